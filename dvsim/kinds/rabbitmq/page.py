"""The figure of a run, which a notebook shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dvsim.study.changes import changes_of
from dvsim.view.figure import Figure
from dvsim.view.groups import grouped
from dvsim.view.run_figures import rate_figure

if TYPE_CHECKING:
    from dvsim.table.result import Result


def figure_of(run: Result) -> Figure:
    """Return the rates of one run over time, titled with its answer."""
    (group,) = grouped([run])
    limit = "" if run.limit is None else f". Limit: {run.limit}"
    title = f"{changes_of(run.scenario).name}: {run.rate}{limit}"
    made = rate_figure(group)
    return replace(made, title=title, chart=made.chart.properties(title=title))
