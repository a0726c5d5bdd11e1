"""Who runs scenarios: this room weighs results and makes none, so its callers say how."""

from collections.abc import Callable, Sequence

from dvsim.study.points import PointsStudy
from dvsim.study.run import Run

Runner = Callable[..., Sequence[Run | PointsStudy]]
"""Scenarios in, a result for each: `dvsim.session.run_scenarios`, or what takes its arguments."""
