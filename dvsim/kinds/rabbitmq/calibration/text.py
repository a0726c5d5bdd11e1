"""A calibration as text: what was measured, the laws with their residuals, the other values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dvsim.evidence.statistics import logs_apart
from dvsim.kinds.rabbitmq.calibration.cards import Measured
from dvsim.kinds.rabbitmq.calibration.points import Point
from dvsim.scenario.units import format_value
from dvsim.study.table import Table

HEAD = (
    "path", "bytes", "iterations", "time", "± sd", "drift", "busy", "own", "simulated", "error",
)  # fmt: skip
CROWDED = 0.1  # share of the cores that others may have before it is said
DRIFTING = 1.25


def lines(
    points: Sequence[Point], cards: Sequence[Measured], simulated_s: Sequence[float]
) -> Iterator[str | Table]:
    """Yield a table of points, and what each card holds.

    Args:
        points: What was measured.
        cards: What was made of it.
        simulated_s: For each point, see `dvsim.kinds.rabbitmq.calibration.simulated.simulated_s`.
    """
    first = points[0]
    yield f"measured on {machine(first)}; time per message and receiver while all are sent to"
    rows = [_row(point, back) for point, back in zip(points, simulated_s, strict=True)]
    yield Table(HEAD, rows, range(1, len(HEAD)))
    yield from (f"  note: {note}" for note in notes(points))
    for card in cards:
        yield ""
        yield from _card_lines(card)


def machine(point: Point) -> str:
    """Return the machine of a point as text."""
    host = point.host
    cores = f"{point.cores} core{'s' * (point.cores != 1)}"
    return f"{host.get('cpu')}, {cores}, {point.broker}, {point.promise}"


def notes(points: Sequence[Point]) -> Iterator[str]:
    """Yield what makes a measurement worth less than it looks."""
    for point in points:
        for note in point_notes(point):
            yield f"{point.path}, {point.size:,} B: {note}"
    over_cards = [point for point in points if point.over_cards]
    if any(point.promise == "at most once" for point in over_cards):
        yield (
            "over cards, at most once: sockets hold megabytes that the broker has not taken; "
            "at least once measures the broker"
        )
    for path in dict.fromkeys(point.path for point in points):
        sizes = {point.size for point in points if point.path == path}
        if len(sizes) == 1:
            yield f"{path}: one size, hence constants, which say nothing of other sizes"


def point_notes(point: Point) -> Iterator[str]:
    """Yield what disturbed the measurement of one size."""
    if not 1 / DRIFTING < point.drift < DRIFTING:
        yield (
            f"the later half took {point.drift:.2f} times the earlier; not steady, or disturbed; "
            "send more, by a larger scale"
        )
    if point.own is not None and point.busy is not None and point.busy - point.own > CROWDED:
        yield f"other work, or the harness, took {point.busy - point.own:.0%} of the cores"


def _row(point: Point, back_s: float) -> list[str]:
    spread, _ = logs_apart([[pace.time_s for pace in point.paces]])
    row = [point.path, f"{point.size:,}", str(len(point.paces)), _micro(point.time_s)]
    row += [_percent(spread), f"{point.drift:.2f}", _percent(point.busy), _percent(point.own)]
    return [*row, _micro(back_s), f"{back_s / point.time_s - 1:+.1%}"]


def _card_lines(measured: Measured) -> Iterator[str]:
    yield f"{measured.card.name}: {measured.card.title}"
    for name, parameter in measured.card.parameters.items():
        if not measured.measured(name):
            continue
        yield f"  {name:<16} {format_value(parameter.value, parameter.dimension)}"
        if name in measured.laws:
            yield f"  {'':<16}   {_residuals(measured, name)}"
    taken = [name for name in measured.card.parameters if not measured.measured(name)]
    for name in taken:
        parameter = measured.card.parameters[name]
        yield f"  {name:<16} {parameter.text}  ({parameter.confidence}, taken over)"


def _residuals(measured: Measured, name: str) -> str:
    law, points = measured.laws[name], measured.points[name]
    several = len({point.path for point in points}) > 1
    parts = [
        f"{point.size:,} B{f' {point.path}' if several else ''} {law.error(n):+.1%}"
        for n, point in enumerate(points)
    ]
    return f"law against measurement: {', '.join(parts)}"


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} us"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
