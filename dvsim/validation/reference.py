"""The published numbers, as data: see ``scenarios/reference/README.md``.

A reference file has one row per printed statistic. A scenario names the file and the transport in
it; the message size comes from its workload, and the label of a column, ``r1``, is its run.
"""

from collections.abc import Mapping

from dvsim.errors import Fault, ScenarioError
from dvsim.scenario.find import reference_root
from dvsim.scenario.published import read_csv
from dvsim.scenario.types import Scenario

CONFIGURATION = "h3_run_configuration.csv"

_FRACTIONS = {
    "25%": 0.25,
    "50%": 0.50,
    "75%": 0.75,
    "90%": 0.90,
    "95%": 0.95,
    "99%": 0.99,
}


def published(scenario: Scenario, column: str) -> dict[str, float]:
    """Return the published statistics of one column of a scenario, in the printed order.

    Parameters
    ----------
    scenario
        One with a reference; without, or with a size that was not published, the result is empty.
    column
        Label of a column of its probe: ``r1`` is run 1. A label may also be the published name.

    Returns
    -------
    dict
        Statistic -> value; ``count`` is a number of samples, everything else is in 1/s.

    Raises
    ------
    ScenarioError
        If the reference file cannot be read or is not one.
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


def empty_share_bounds(statistics: Mapping[str, float]) -> tuple[float, float]:
    """Return the least and largest share of zero samples that published quantiles allow.

    A quantile of zero says that at least this share of the samples is zero, one above zero that
    at most this share is. For p90 = 0 and p95 > 0 that is 0.90 to 0.95; for a minimum above zero
    it is 0 to 0.

    Parameters
    ----------
    statistics
        Published statistics by name; only order statistics are looked at.
    """
    low, high = 0.0, 1.0
    for name, share in {"min": 0.0, **_FRACTIONS, "max": 1.0}.items():
        if name not in statistics:
            continue
        if statistics[name] > 0:
            high = min(high, share)
        else:
            low = max(low, share)
    return low, high


def active_rate_bounds(statistics: Mapping[str, float]) -> tuple[float, float]:
    """Return the least and largest mean rate of the active samples that a column allows, in 1/s.

    With a share a of samples above zero, their mean is ``mean / a``. The quantiles bound a from
    either side, see `empty_share_bounds`; and by Cauchy and Schwarz it is at least
    ``mean**2 / (mean**2 + std**2)``, so no mean is above ``mean + std**2 / mean``.

    Examples
    --------
    >>> active_rate_bounds({"mean": 8.0, "std": 24.0, "50%": 0.0, "75%": 0.0, "90%": 1.0})
    (32.0, 80.0)
    """
    mean, least, most = statistics["mean"], *empty_share_bounds(statistics)
    scattered = mean + statistics["std"] ** 2 / mean
    return mean / (1 - least), min(mean / (1 - most), scattered) if most < 1 else scattered


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
