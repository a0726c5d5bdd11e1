"""Published numbers, as data in the folder ``scenarios/reference``: see its README.md.

Tables are CSV files with a header. A scenario names the file and the transport in it; the message
size comes from its workload, and the label of a column, ``r1``, is its run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from dvsim.errors import ScenarioError
from dvsim.scenario.find import reference_root
from dvsim.scenario.sampled import Sampled

CONFIGURATION = "h3_run_configuration.csv"
TRANSPORTS = "h3_transports.csv"

COLUMNS = ("transport", "message_bytes", "run", "published_column", "statistic", "value")
"""What a table that a scenario refers to must have, one row per printed statistic."""


def read_csv(path: Path) -> tuple[dict[str, str], ...]:
    """Return the rows of a CSV file with a header, as text by column name."""
    try:
        return _rows(path.read_bytes())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError.at(path, f"cannot read the reference data: {error}") from error


@lru_cache(maxsize=64)
def _rows(content: bytes) -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader(io.StringIO(content.decode(), newline="")))


def transports(path: Path) -> tuple[str, ...]:
    """Return the transports that a table of published statistics has, in its order."""
    rows = read_csv(path)
    lacking = [name for name in COLUMNS if not rows or rows[0].get(name) is None]
    if lacking:
        message = f"is not a table of published statistics: it has no {', '.join(lacking)}"
        raise ScenarioError.at(path, message)
    return tuple(dict.fromkeys(row["transport"] for row in rows))


class Transport(NamedTuple):
    """A transport of the published runs, and how its model may have been fitted to them."""

    label: str  # for people
    parameters: int  # how many may have been fitted
    fitted: tuple[str, ...]  # roles whose cards were
    # The card whose port a column went through; empty for a column that is the sum over several
    # receivers, which no limit of one port limits.
    port: str


def published_transports() -> Mapping[str, Transport]:
    """Return the transports by the name that the published tables use."""
    return {
        row["transport"]: Transport(
            row["label"], int(row["parameters"]), tuple(row["fitted"].split()), row["port"]
        )
        for row in read_csv(reference_root() / TRANSPORTS)
    }


def label_of(transport: str) -> str:
    """Return the label of a published transport; of another one its name."""
    known = published_transports().get(transport)
    return known.label if known else transport


def published(scenario: Sampled, column: str) -> dict[str, float]:
    """Return the published statistics of one column of a scenario, in the printed order.

    Args:
        scenario: One with a reference; without, or with a size that was not published, the result
            is empty.
        column: Label of a column of its probe: ``r1`` is run 1. A label may also be the published
            name.

    Returns:
        dict: Statistic -> value; ``count`` is a number of samples, everything else is in 1/s.
    """
    return {statistic: value for _, statistic, value in _rows_of(scenario, column)}


def published_column(scenario: Sampled, column: str) -> str:
    """Return the name that the source gives to a column; empty if it has no such column."""
    rows = _rows_of(scenario, column)
    return rows[0][0] if rows else ""


def published_workload(scenario: Sampled) -> tuple[int, int] | None:
    """Return the published messages per iteration and iterations for the size of a scenario."""
    path = reference_root() / CONFIGURATION
    for row in read_csv(path):
        if int(row["message_bytes"]) == scenario.workload.message_bytes:
            return int(row["messages"]), int(row["iterations"])
    return None


def _rows_of(scenario: Sampled, column: str) -> list[tuple[str, str, float]]:
    reference = scenario.reference
    if reference is None:
        return []
    path = reference_root() / reference.file
    try:
        return [
            (row["published_column"], row["statistic"], float(row["value"]))
            for row in read_csv(path)
            if row["transport"] == reference.transport
            and int(row["message_bytes"]) == scenario.workload.message_bytes
            and column in (row["published_column"], f"r{row['run']}")
        ]
    except (KeyError, TypeError, ValueError) as error:  # no such column, or a row that is cut
        raise ScenarioError.at(path, f"is not a table of published statistics: {error}") from error
