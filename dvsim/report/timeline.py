"""The queue over time as a small SVG: lines that the player's cursor runs along."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

WIDTH, HEIGHT = 420, 230
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 14, 40
LINES = {
    "waiting": "waiting at the inputs",
    "in_flight": "inside the switch",
    "deflected": "deflected in the slot",
}
"""Column of the table -> what it is called; each line has a dash and a colour of its own."""


def timeline(name: str, queues: DataFrame, first: int, last: int) -> str:
    """Draw packets waiting, in flight and deflected over the slots `first` to `last`.

    Parameters
    ----------
    name : str
        Identifier of the drawing; the player finds it and its cursor by it.
    queues : DataFrame
        slot, waiting, in_flight, deflected.

    Returns
    -------
    str
        An SVG element, empty if there is no row. Its attributes ``data-left`` and ``data-right``
        are the places of the first and the last slot, for the cursor.
    """
    if queues.empty:
        return ""
    most = nice(max(1.0, float(queues[list(LINES)].to_numpy().max())))
    floor = HEIGHT - BOTTOM
    span = max(last - first, 1)

    def across(slot: float) -> str:
        return number(LEFT + (slot - first) / span * (WIDTH - LEFT - RIGHT))

    def up(packets: float) -> str:
        return number(floor - packets / most * (floor - TOP))

    said = "; ".join(
        f"{text}: {int(queues[column].max())} at most, {int(queues[column].iloc[-1])} at the end"
        for column, text in LINES.items()
    )
    parts = [
        f'<svg id="{escape(name)}" class="timeline" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(f"Packets over the slots. {said}.")}" '
        f'data-left="{LEFT}" data-right="{WIDTH - RIGHT}">'
    ]
    for value in (0, most / 2, most):
        parts.append(
            f'<path class="grid" d="M{LEFT} {up(value)}H{WIDTH - RIGHT}"/>'
            f'<text x="{LEFT - 6}" y="{up(value)}" dy="4" text-anchor="end">{value:g}</text>'
        )
    for slot in dict.fromkeys((first, (first + last) // 2, last)):
        parts.append(
            f'<text x="{across(slot)}" y="{floor + 16}" text-anchor="middle">{slot}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">'
        "slot</text>"
        f'<text x="{LEFT}" y="{TOP - 4}">packets</text>'
    )
    slots = queues["slot"].tolist()
    for column in LINES:
        points = " ".join(
            f"{across(slot)},{up(value)}"
            for slot, value in zip(slots, queues[column].tolist(), strict=True)
        )
        parts.append(f'<polyline class="{column}" points="{points}"/>')
    parts.append(
        f'<path class="cursor" d="M0 {TOP}V{floor}" transform="translate({LEFT} 0)"/></svg>'
    )
    return "".join(parts)


def number(value: float) -> str:
    """Write a coordinate with a tenth of a unit.

    Examples
    --------
    >>> number(44.0), number(44.16)
    ('44', '44.2')
    """
    return f"{value:.1f}".removesuffix(".0")


def nice(value: float) -> float:
    """Round up to an even number of the next one, two or five: the end of an axis.

    Examples
    --------
    >>> [nice(value) for value in (1, 3, 17, 20, 140)]
    [2.0, 4.0, 20.0, 20.0, 200.0]
    """
    decade = 10.0 ** max(math.floor(math.log10(value)), 0)
    return next(step * decade for step in (2, 4, 6, 10, 20) if step * decade >= value)
