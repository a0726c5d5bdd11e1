"""The figure of a run, which a notebook shows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dvsim.report.groups import grouped
from dvsim.report.series import POINTS_PER_TRACE, rate_drawing
from dvsim.study.changes import changes_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from dvsim.study.run import Run


def figure_of(run: Run) -> Figure:
    """Return the rates of one run over time as a figure of Plotly, titled with its answer."""
    from plotly.graph_objects import Figure

    (group,) = grouped([run])
    spec = rate_drawing(group, POINTS_PER_TRACE).spec
    figure = Figure(data=spec["data"], layout=spec["layout"])
    limit = "" if run.limit is None else f". Limit: {run.limit}"
    figure.update_layout(title=escape(f"{changes_of(run.scenario).name}: {run.rate}{limit}"))
    return figure
