"""Tables of published numbers: CSV files with a header, in the folder of published data."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from dvsim.errors import Fault, ScenarioError

COLUMNS = ("transport", "message_bytes", "run", "published_column", "statistic", "value")
"""What a table that a scenario refers to must have, one row per printed statistic."""


@cache
def read_csv(path: Path) -> tuple[dict[str, str], ...]:
    """Return the rows of a CSV file with a header, as text by column name.

    Raises:
        ScenarioError: If the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return tuple(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fault = Fault(str(path), None, "", f"cannot read the reference data: {error}")
        raise ScenarioError([fault]) from error


@cache
def transports(path: Path) -> tuple[str, ...]:
    """Return the transports that a table of published statistics has, in its order.

    Raises:
        ScenarioError: If it cannot be read, or is no such table.
    """
    rows = read_csv(path)
    lacking = [name for name in COLUMNS if not rows or rows[0].get(name) is None]
    if lacking:
        message = f"is not a table of published statistics: it has no {', '.join(lacking)}"
        raise ScenarioError.at(path, message)
    return tuple(dict.fromkeys(row["transport"] for row in rows))
