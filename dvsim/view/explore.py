"""A picture of a sweep that its reader chooses: metric, axis, series, and the other keys."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dvsim.scenario.units import is_number
from dvsim.table.result import Result
from dvsim.view.axes import Sweep
from dvsim.view.figure import COLOURS, CONFIG, plain, reading
from dvsim.view.metrics import name_of, unit_of

MOST_POINTS = 20_000  # that are drawn; of more, some at equal distances
MOST_NUMBERS = 60_000  # a page shall stay below a megabyte; metrics that find no room are left out


@dataclass(frozen=True)
class Explorer:
    """What the script of the page draws, and the controls that it has.

    Attributes:
        name: Identifier of its element.
        title: Heading.
        data: Keys, metrics and points.
        reading: How to read it.
    """

    name: str
    title: str
    data: Mapping[str, Any]
    reading: str
    form: ClassVar[str] = "explorer"

    @property
    def json(self) -> str:
        """The data as JSON that cannot end a script element."""
        text = json.dumps(self.data, separators=(",", ":"), allow_nan=False)
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def explorer(swept: Result, name: str = "explore") -> Explorer | None:
    """Return the picture of a sweep with its controls; None where nothing differs."""
    sweep, keys = Sweep(swept), swept.axes(swept.points)
    if sweep.key is None or keys.empty:
        return None
    step = -(-len(keys) // MOST_POINTS)
    kept, apart = keys.iloc[::step], sweep.saturated
    known = {}
    for key in kept:
        column = ["" if value != value else value for value in kept[key].tolist()]  # noqa: PLR0124
        distinct = list(dict.fromkeys(column))
        numeric = all(is_number(value) and math.isfinite(float(value)) for value in distinct)
        values = sorted(distinct) if numeric else distinct
        place = {value: at for at, value in enumerate(values)}
        known[str(key)] = {
            "values": [float(one) if numeric else str(one) for one in values],
            "texts": [sweep.text(key, value) for value in values],
            "numeric": numeric,
            "at": [place[value] for value in column],
        }
    table = swept.estimates().dropna(subset="value").groupby("metric", sort=False)
    there = [*swept.drawn, *(one for one in swept.METRICS if one not in swept.drawn)]
    there = [one for one in there if one in table.groups]
    shown = there[: max(1, MOST_NUMBERS // (3 * len(kept)))]
    metrics = {}
    for metric in shown:
        rows = table.get_group(metric).set_index("point").reindex(kept.index)
        unit = unit_of(swept, metric)
        metrics[metric] = {
            "title": f"{name_of(swept, metric)}{f' ({unit})' if unit else ''}",
            **{end: plain(rows[end]) for end in ("value", "low", "high")},
        }
    left = len(there) - len(shown)
    omitted = f" Drawn are {len(kept):,} of {len(keys):,} points." if step > 1 else ""
    omitted += f" {left} more metrics are in points.csv." if left else ""
    limits = swept.sides["points"].set_index("point")["bottleneck"].reindex(kept.index)
    data = {
        "keys": known,
        "metrics": metrics,
        "x": sweep.key,
        "all": sweep.scattered,
        "open": [int(point in sweep.notes) for point in kept.index],
        "apart": [int(point in apart) for point in kept.index],
        "limit": [str(text).partition(" (")[0] for text in limits],
        "colours": COLOURS,
        "config": CONFIG,
    }
    return Explorer(name, "Explore", data, reading("explore", omitted=omitted))
