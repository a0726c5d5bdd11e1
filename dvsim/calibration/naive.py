"""The naive rival of a fitted model: a latency, and bytes over a rate."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dvsim.calibration.target import log_error
from dvsim.results.law import fit_law, seconds
from dvsim.scenario.types import Scenario
from dvsim.validation.types import Row


def naive_error(fit: Sequence[Row], means: Sequence[Row], scenarios: Sequence[Scenario]) -> float:
    """Return the mean log error of means by a law through the fitted means of each transport.

    Means of a transport without a fitted one are left out.

    Parameters
    ----------
    fit
        Rows that may be used.
    means
        The means to be predicted.
    scenarios
        Of all of them, which know how many pieces a message has.
    """
    pieces = {one.name: _pieces(one) for one in scenarios}
    errors = []
    for transport in dict.fromkeys(row.transport for row in means):
        used = [row for row in fit if row.transport == transport and row.statistic == "mean"]
        if not used:
            continue
        times = [pieces[row.scenario] / row.published for row in used]
        law = fit_law([row.message_bytes for row in used], times).law
        for row in (row for row in means if row.transport == transport):
            rate = pieces[row.scenario] / seconds(law, row.message_bytes)
            errors.append(log_error(row.published, rate))
    return sum(errors) / len(errors) if errors else 0.0


def _pieces(scenario: Scenario) -> int:
    """Return what a message counts as printed: pieces over cards, else one."""
    if scenario.system.transport != "data-vortex":
        return 1
    words = math.ceil(scenario.workload.message_bytes / 8)
    return math.ceil(max(1, words) / int(scenario.system.card["piece_words"]))
