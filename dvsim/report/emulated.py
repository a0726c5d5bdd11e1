"""What emulated runs cost, and what happened on the way, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from dvsim.report.prepare import Group, size_text
from dvsim.report.table import Cell, Table, number
from dvsim.study.emulated_text import COSTS, costs_of, known_of, total_of

EVENTS = {
    "republished": "published again",
    "duplicates": "duplicates",
    "blocked_s": "blocked (s)",
    "depth": "queued at the end",
    "wall_s": "sending (s)",
}


def emulated_table(groups: Sequence[Group]) -> Table:
    """Tabulate the CPU time of a message in every program of each emulated run."""
    rows = []
    for group in groups:
        for entry in group.entries:
            if entry.made != "emulated":
                continue
            counters = entry.run.counters
            costs = costs_of(counters)
            run = counters[counters["component"] == "run"]
            busy = counters[counters["metric"] == "busy"]["value"]
            scale = known_of(entry.run.manifest).get("scale", 1)
            rows.append(
                [
                    Cell(size_text(group.message_bytes), raw=group.message_bytes),
                    Cell(entry.label),
                    Cell(f"{scale:.3g}", raw=scale),
                    *(number(_microseconds(costs.get(kind))) for kind in COSTS),
                    number(100 * float(busy.mean()) if len(busy) else None),
                    *(
                        number(total_of(run if metric == "wall_s" else counters, metric))
                        for metric in EVENTS
                    ),
                ]
            )
    return Table(
        name="emulated",
        caption=(
            "Emulated runs: CPU microseconds of a message in each program, all processes of a kind "
            "added up; how busy all cores of the machine were while messages were sent; events and "
            "seconds per iteration. On few cores the programs compete, and the sum is the limit."
        ),
        head=[
            "message",
            "run",
            "scale",
            *(f"{kind} (us)" for kind in COSTS),
            "cores busy (%)",
            *EVENTS.values(),
        ],
        rows=rows,
    )


def _microseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e6
