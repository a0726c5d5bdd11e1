"""The published numbers, as data: see ``scenarios/reference/README.md``.

A reference file has one row per printed statistic. A scenario names the file and the transport in
it; the message size comes from its workload, and the label of a column, ``r1``, is its run.
"""

from typing import NamedTuple

from dvsim.errors import Fault, ScenarioError
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.scenario.find import reference_root
from dvsim.scenario.published import read_csv

CONFIGURATION = "h3_run_configuration.csv"


class Transport(NamedTuple):
    """A transport of the published runs, and how its model may have been fitted to them.

    Attributes:
        label: For people.
        parameters: How many may have been fitted.
        fitted: Roles whose cards were; both transports use one broker, fitted to InfiniBand.
        port: The card whose port a column went through; None for a column that is the sum over
            both receivers, which no limit of one port limits.
    """

    label: str
    parameters: int
    fitted: tuple[str, ...]
    port: str | None


TRANSPORTS = {
    "data-vortex": Transport("Data Vortex", 8, ("card", "bridge"), "data-vortex-8"),
    "fdr-ipoib": Transport("InfiniBand", 6, ("card", "publisher", "broker"), None),
}
"""By the name that the published tables use."""


def label_of(transport: str) -> str:
    """Return the label of a published transport; of another one its name."""
    return TRANSPORTS[transport].label if transport in TRANSPORTS else transport


def published(scenario: Scenario, column: str) -> dict[str, float]:
    """Return the published statistics of one column of a scenario, in the printed order.

    Args:
        scenario: One with a reference; without, or with a size that was not published, the result
            is empty.
        column: Label of a column of its probe: ``r1`` is run 1. A label may also be the published
            name.

    Returns:
        dict: Statistic -> value; ``count`` is a number of samples, everything else is in 1/s.

    Raises:
        ScenarioError: If the reference file cannot be read or is not one.
    """
    return {statistic: value for _, statistic, value in _rows_of(scenario, column)}


def published_column(scenario: Scenario, column: str) -> str:
    """Return the name that the source gives to a column; empty if it has no such column."""
    rows = _rows_of(scenario, column)
    return rows[0][0] if rows else ""


def published_workload(scenario: Scenario) -> tuple[int, int] | None:
    """Return the published messages per iteration and iterations for the size of a scenario."""
    path = reference_root() / CONFIGURATION
    for row in read_csv(path):
        if int(row["message_bytes"]) == scenario.workload.message_bytes:
            return int(row["messages"]), int(row["iterations"])
    return None


def _rows_of(scenario: Scenario, column: str) -> list[tuple[str, str, float]]:
    """Return published column, statistic and value of each row that a column stands for."""
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
        fault = Fault(str(path), None, "", f"is not a table of published statistics: {error}")
        raise ScenarioError([fault]) from error
