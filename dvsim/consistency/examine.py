"""All tests on all data, in the order in which they need one another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dvsim.consistency.copies import find_copied, find_repeated, find_single
from dvsim.consistency.counted import find_counted
from dvsim.consistency.limits import find_above
from dvsim.consistency.moments import find_contradictions
from dvsim.consistency.read import read_data, read_workloads
from dvsim.consistency.relations import find_relations
from dvsim.consistency.totals import find_batches, find_pieces
from dvsim.consistency.types import REPORTED, Column, Data, Finding, Workload
from dvsim.consistency.words import factor_finding, grid_finding
from dvsim.errors import Fault, ScenarioError


def examine(
    *tables: Any,  # noqa: ANN401 - see below
    messages: Any = None,  # noqa: ANN401
    limits: Mapping[str, float] | float | None = None,
) -> list[Finding]:
    """Return what data say by themselves, the strongest finding first.

    Parameters
    ----------
    *tables
        Paths of CSV or Parquet files, or pandas tables: summaries in long form, tables of several
        numbers side by side, raw samples; see `dvsim.consistency.read`.
    messages
        Path or table of what was sent, by size: ``message_bytes``, ``messages``, ``iterations``.
    limits
        Bytes per second that a port carries: for all, or by group (a transport).

    Returns
    -------
    list of Finding
        Those of at least `REPORTED` decades; the same data give the same list.

    Raises
    ------
    ScenarioError
        If a table is none, with every fault; if `messages` or `limits` are given for data that do
        not say the size of a message.

    Examples
    --------
    >>> import pandas as pd
    >>> polls = pd.DataFrame({"rate": [n / 0.005001 for n in (7, 12, 13, 29, 40, 41)]})
    >>> [finding.what for finding in examine(polls)]
    ['the values are whole multiples of 199.96']
    """
    data = read_data(tables)
    workloads = {} if messages is None else read_workloads(messages)
    given = {"--messages": messages is not None, "--limit": limits is not None}
    if any(given.values()) and not any(column.message_bytes for column in data.columns):
        what = "needs data with a column 'message_bytes' or 'size'"
        raise ScenarioError(Fault(name, None, "", what) for name, asked in given.items() if asked)
    groups = _groups(data.columns)
    if not isinstance(limits, Mapping):
        limits = {} if limits is None else dict.fromkeys(groups, float(limits))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # 1e308 beside 5e-324
        found = [
            finding
            for finding in _all(data, groups, workloads, limits)
            if finding.log10_odds >= REPORTED
        ]
    return sorted(found, key=lambda finding: -finding.log10_odds)


def _all(
    data: Data,
    groups: Mapping[str, Sequence[Column]],
    workloads: Mapping[int, Workload],
    limits: Mapping[str, float],
) -> Iterator[Finding]:
    counted = [one for group, columns in groups.items() for one in find_counted(group, columns)]
    looks = math.log10(max(1, sum(len(one.factors) for one in counted)))
    for one in counted:
        if one.grid is not None:
            yield grid_finding(one.group, one.columns, len(groups[one.group]), one.grid)
        strong: dict[int | str, int] = {}
        for kind, factor in one.factors.items():
            alike = [column for column in one.columns if column.kind == kind]
            yield factor_finding(one.group, alike, one.grid, factor, looks)
            if factor.log10_odds - looks >= REPORTED:
                strong[kind] = factor.factor
        if one.grid is not None and workloads:
            yield from find_pieces(one.group, one.columns, one.grid, workloads, strong)
    for group, columns in groups.items():
        yield from find_batches(group, columns, workloads)
    yield from find_above(data.columns, limits)
    for column in data.columns:
        yield from find_contradictions(column)
    grids = [(one.group, one.grid) for one in counted if one.grid is not None]
    for name, lines in data.tables.items():
        yield from find_relations(name, lines)
        yield from find_repeated(name, lines)
        yield from find_copied(name, lines, data.columns)
        yield from find_single(name, lines, grids)


def _groups(columns: Sequence[Column]) -> dict[str, list[Column]]:
    groups: dict[str, list[Column]] = {}
    for column in columns:
        groups.setdefault(column.group, []).append(column)
    return groups
