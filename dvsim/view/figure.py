"""A figure: a frame of numbers, a chart of it that Altair describes, and words.

The page shows the chart with Vega, and vl-convert writes the same chart as SVG, PNG or PDF. Every
chart is of few shapes, and takes its numbers from a frame with these columns:

========  ==================================================================================
line      which series a row belongs to; it has a colour and a mark
part      what a row is of it: "simulated", "theory", "published", "saturated" ...; a stroke
x, y      its place; either may be a name
low, high the interval; where there is none, not a number
open      1 where the mark is hollow, else 0
text      what the pointer shows
========  ==================================================================================
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from itertools import cycle
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.study.number_text import joined, number_text

if TYPE_CHECKING:
    import altair as alt

Floats = npt.NDArray[np.float64]

# Okabe and Ito's colours for the colour-blind, those that keep a contrast of 3:1 on white and on
# near-black come first; black itself is left out because a dark page would swallow it.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, ORANGE, YELLOW = "#56B4E9", "#E69F00", "#F0E442"
OTHER_COLOURS = (GREEN, PURPLE, SKY, ORANGE, YELLOW)
COLOURS = (BLUE, VERMILION, *OTHER_COLOURS[:-1])  # yellow is too pale for a line on white
GREY = "#7f7f7f"  # the one grey that keeps 3:1 or more on white and on near-black alike
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
STROKES: Mapping[str, Sequence[int]] = {
    "simulated": [], "emulated": [], "second": [8, 4], "third": [2, 3], "99 %": [2, 3],
    "saturated": [1, 3], "mean field": [7, 4], "zero load": [4, 3], "published": [10, 3, 2, 3],
    "laboratory": [10, 3, 2, 3],
}  # fmt: skip
OTHER_STROKES: Sequence[Sequence[int]] = ([6, 2], [3, 2, 1, 2], [9, 3, 3, 3])
MARKED = ("published", "laboratory")  # parts that are marks, without a line
COLUMNS = ("line", "part", "x", "y", "low", "high", "open", "text")
MOST_SAID = 6  # lines in the words for those who cannot see them
WIDTH = 520  # pixels of a figure on paper
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {"domainColor": GREY, "tickColor": GREY, "gridColor": GREY, "gridOpacity": 0.22,
             "labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal",
             "labelOverlap": True, "labelLimit": 230},
    "axisX": {"grid": False},
    "legend": {"orient": "bottom", "title": None, "labelFontSize": 12, "labelLimit": 330,
               "symbolLimit": 60, "symbolOpacity": 1, "columns": 2, "symbolStrokeWidth": 2},
}  # fmt: skip
SIZES = (
    "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : datum.value >= 1024 ? "
    "datum.value / 1024 + ' KiB' : datum.value + ' B'"
)


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a page, a paper or a notebook.

    Attributes:
        name: Identifier of its element; fixed, so that equal runs give equal pages.
        title: Heading.
        frame: Its numbers, see the module.
        chart: What Altair describes, without numbers.
        reading: How to read it.
        words: What it shows, for those who cannot see it; without, it is said from the frame.
        heads: What the columns of the frame are called in its CSV; those without are left out.
    """

    name: str
    title: str
    frame: pd.DataFrame
    chart: alt.TopLevelMixin
    reading: str
    words: str = ""
    heads: Mapping[str, str] = field(default_factory=dict)
    form: ClassVar[str] = "figure"

    @property
    def label(self) -> str:
        """What it shows, in words."""
        return f"{self.title}. {self.words or spoken(self.frame)}"

    @cached_property
    def described(self) -> dict[str, Any]:
        """The chart as Vega-Lite, without numbers."""
        made: dict[str, Any] = self.chart.to_dict(validate=False)
        made.pop("$schema", None)
        return made | {"config": CONFIG}

    @property
    def records(self) -> list[dict[str, Any]]:
        """The rows of the frame, in plain types; what is not a number is null."""
        columns = {str(name): plain(self.frame[name]) for name in self.frame}
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    @cached_property
    def json(self) -> str:
        """Chart and columns as JSON that cannot end a script element."""
        columns = {str(name): _packed(plain(self.frame[name])) for name in self.frame}
        columns.pop("colour", None)  # the scale of the chart has them
        content = {"spec": self.described, "columns": columns, "heads": dict(self.heads)}
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")

    @property
    def wide(self) -> bool:
        """Whether it has a width of its own, and is scrolled on a narrow screen."""
        return self.described.get("width") != "container"

    @property
    def height(self) -> int:
        """Pixels from top to bottom, less the legend."""
        return int(self.described.get("height", 300))

    def whole(self) -> dict[str, Any]:
        """Return the chart as Vega-Lite with its numbers, of a fixed width, as papers want it."""
        data = {"name": "rows", "values": self.records}
        paper = {"background": "white", "data": data}
        sized = {"width": WIDTH} if self.described.get("width") == "container" else {}
        return self.described | paper | sized

    def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, Any]:
        return {
            "application/vnd.vegalite.v6+json": self.whole(),
            "image/svg+xml": svg(self).decode(),
        }


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG; equal figures give equal bytes."""
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(figure.whole())
    names = dict.fromkeys(re.findall(r'id="(clip\d+)"', text))  # counted over all figures
    for number, name in enumerate(names):
        text = re.sub(rf"\b{name}\b", f"figure-clip-{number}", text)
    return text.encode()


def png(figure: Figure) -> bytes:
    """Return a figure as PNG, with two pixels for one on the page."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(figure.whole(), scale=2))


def pdf(figure: Figure) -> bytes:
    """Return a figure as PDF; equal figures give equal bytes."""
    import vl_convert

    made = bytes(vl_convert.svg_to_pdf(svg(figure).decode()))
    # fonts, and the entries of a dictionary, come in any order: objects are numbered as first named
    entries = rb"(?m)((?:^ +/\w+ \d+ 0 R\n)+)"
    made = re.sub(entries, lambda found: b"".join(sorted(found[1].splitlines(True))), made)
    objects = {
        name: text.partition(b"\nstream\n")
        for name, text in re.findall(rb"(?ms)^(\d+) 0 obj\n(.*?)^endobj\n", made)
    }
    trailer = made[made.rindex(b"trailer") : made.rindex(b"startxref")]
    named, numbers = re.findall(rb"(\d+) 0 R", trailer), dict[bytes, int]()
    for name in named:  # which grows
        if name not in numbers:
            numbers[name] = len(numbers) + 1
            named += re.findall(rb"(\d+) 0 R", objects[name][0])

    def renumbered(text: bytes) -> bytes:
        return re.sub(rb"(\d+) 0 R", lambda found: b"%d 0 R" % numbers[found[1]], text)

    written, places = made[: made.index(b"\n\n") + 2], [b"0000000000 65535 f\r\n"]
    for name, number in numbers.items():
        head, *stream = objects[name]
        places.append(b"%010d 00000 n\r\n" % len(written))
        written += b"%d 0 obj\n%s%sendobj\n\n" % (number, renumbered(head), b"".join(stream))
    ends = b"xref\n0 %d\n%s%s" % (len(places), b"".join(places), renumbered(trailer))
    return b"%s%sstartxref\n%d\n%%%%EOF" % (written, ends, len(written))


def reading(view: str, **values: object) -> str:
    """Return how to read a view: its text in captions.toml, with the values in it."""
    return _captions()[view].format(**values)


@cache
def _captions() -> dict[str, str]:
    return tomllib.loads((files("dvsim.view") / "captions.toml").read_text("utf-8"))


def frame_of(rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Return rows as the frame of a figure; what a row does not say is as most have it."""
    usual = {"part": "simulated", "low": math.nan, "high": math.nan, "open": 0, "text": ""}
    made = pd.DataFrame([usual | dict(row) for row in rows])
    return made.reindex(columns=[*COLUMNS, *(name for name in made if name not in COLUMNS)])


def plain(column: pd.Series[Any]) -> list[Any]:
    """Return a column as JSON has it, numbers with seven digits."""
    return [_rounded(value) if isinstance(value, float) else value for value in column.tolist()]


def _packed(values: list[Any]) -> list[Any] | dict[str, list[Any]]:
    """Write each value once, and which it is at every place, where that is shorter."""
    known = list(dict.fromkeys(values))
    if 4 * len(known) > len(values):
        return values
    places = {value: at for at, value in enumerate(known)}
    at = [places[value] for value in values] if len(known) > 1 else [0] * len(values)
    return {"of": known, "at": at}


def _rounded(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.7g}")


def spoken(frame: pd.DataFrame) -> str:
    """Say the ends of each line of a frame."""
    parts = []
    drawn = frame[frame["y"].notna() & frame["x"].notna()]
    groups = list(drawn.groupby(["line", "part"], sort=False))
    for (line, part), rows in groups[:MOST_SAID]:
        ends = [rows.iloc[0]] if len(rows) == 1 else [rows.iloc[0], rows.iloc[-1]]
        texts = [f"{_word(end['y'])} at {_word(end['x'])}" for end in ends]
        named = str(line) if part in ("simulated", "") else f"{line}, {part}"
        parts.append(f"{named}: {' to '.join(texts)}".removeprefix(": "))
    more = len(groups) - MOST_SAID
    return f"{'; '.join(parts) or 'Nothing to draw'}{f'; and {more} more' if more > 0 else ''}."


def _word(value: object) -> str:
    return number_text(float(value)) if isinstance(value, int | float) else str(value)


@dataclass(frozen=True)
class Axis:
    """An axis: its title, and how values lie on it.

    `kind` is "linear", "log" or "names"; `form` is that of Vega, or "bytes" for sizes.
    """

    title: str
    kind: str = "linear"
    form: str = ""
    zero: bool = False
    ends: tuple[float, float] | None = None
    floor: float | None = None  # where a zero is drawn on a logarithmic axis

    def channel(self, channel: Any, name: str) -> Any:  # noqa: ANN401 - a class of Altair
        """Return the channel of a chart."""
        import altair as alt

        if self.kind == "names":
            slanted = {"labelAngle": -35} if channel is alt.X else {}
            return channel(f"{name}:N", sort=None, title=self.title, axis=alt.Axis(**slanted))
        scale: dict[str, Any] = {"zero": self.zero, "nice": False, "padding": 6}
        if self.kind == "log":
            scale = {"type": "log", "nice": False, "base": 2 if self.form == "bytes" else 10}
        if self.ends is not None:
            scale |= {"domain": list(self.ends)}
        labels: dict[str, Any] = {"format": self.form} if self.form else {}
        if self.form == "d":
            labels["tickMinStep"] = 1
        if self.form == "bytes":
            labels = {"labelExpr": SIZES}
        elif self.kind == "log":
            text = "format(datum.value, datum.value < 1 ? '~g' : '~s')"
            if self.floor is not None:
                text = f"datum.value <= {self.floor} ? '0' : {text}"
            labels = {"labelExpr": text, "tickCount": 6}
        return channel(
            f"{name}:Q", title=self.title, scale=alt.Scale(**scale), axis=alt.Axis(**labels)
        )


def log_axis(title: str, values: Iterable[float], form: str = "") -> Axis:
    """Return a logarithmic axis that just holds values, those above zero."""
    above = [value for value in values if value > 0 and math.isfinite(value)]
    low, high = min(above, default=1.0), max(above, default=10.0)
    return Axis(title, "log", form, ends=(low / 1.15, max(high * 1.15, low * 2)))


def log_axis_with_zero(title: str, values: Iterable[float]) -> Axis:
    """Return a logarithmic axis that has a place for zero, if there is one among the values.

    >>> log_axis_with_zero("a", [0.0, 2000.0, 3.4e6]).floor
    100.0
    """
    known = list(values)
    axis = log_axis(title, known)
    if all(value > 0 for value in known):
        return axis
    low = min((value for value in known if value > 0), default=1.0)
    floor = 10.0 ** (math.floor(math.log10(low)) - 1)
    high = max([*known, 10 * floor])
    return Axis(title, "log", ends=(floor / 1.6, high * 1.15), floor=floor)


def lines(
    frame: pd.DataFrame,
    x: Axis,
    y: Axis,
    *,
    joined: bool = True,
    marks: bool = True,
    bands: bool = False,
    step: bool = False,
    beside: bool = False,
    height: int = 300,
    under: Sequence[alt.Chart] = (),
) -> alt.LayerChart:
    """Describe series over an axis: lines, marks, and intervals as bands or bars.

    Args:
        frame: As the module has it; "published" and "laboratory" are marks, not lines.
        x, y: The axes.
        joined, marks: Whether there are lines, and marks.
        bands: Whether intervals of what is simulated are areas.
        step: Whether lines are stairs.
        beside: Whether the marks of one place stand side by side.
        height: Of the chart, in pixels.
        under: Layers below.
    """
    import altair as alt

    base = alt.Chart(alt.NamedData("rows")).encode(
        x=x.channel(alt.X, "x"),
        detail=["line:N", "part:N"],
        **({"xOffset": alt.XOffset("line:N", sort=None)} if beside else {}),
    )
    value = y.channel(alt.Y, "y")
    ends = {"y": y.channel(alt.Y, "low"), "y2": "high:Q"}
    ranged = base
    if y.kind == "log" and y.ends is not None:  # what reaches below zero ends at the axis
        ranged = base.transform_calculate(lower=f"max(datum.low, {float(y.ends[0])!r})")
        ends["y"] = y.channel(alt.Y, "lower")
    palette = colour(frame)
    strokes = stroke(frame)
    shown = {"color": palette, "tooltip": tooltip(frame)}
    alone = "datum.part == 'published' || datum.part == 'laboratory'"
    layers = list(under)
    if bands:
        banded = "datum.low != null && datum.part == 'simulated'"
        area = ranged.transform_filter(banded).mark_area(opacity=0.2, clip=True)
        layers.append(area.encode(**ends, **shown))
    if joined:
        line = base.transform_filter(f"!({alone}) || datum.open == 0")
        how = {"interpolate": "step-after"} if step else {}
        look = {"strokeDash": strokes} if strokes is not None else {}
        layers.append(line.mark_line(strokeWidth=2, **how).encode(y=value, **shown, **look))
    if frame["low"].notna().any():
        kept = "datum.low != null" + (" && datum.part != 'simulated'" if bands else "")
        bars = ranged.transform_filter(kept).mark_rule(strokeWidth=1.5, opacity=0.8, clip=True)
        layers.append(bars.encode(**ends, **shown))
    if marks:
        layers.append(points(base, frame, palette).encode(y=value))
    return alt.layer(*layers).properties(width="container", height=height)


def points(base: alt.Chart, frame: pd.DataFrame, palette: alt.Color) -> alt.Chart:
    """Return the marks of a chart: a shape for each line, hollow where a row is open."""
    import altair as alt

    names = names_of(frame)
    shapes = [SHAPES[(at + 2 * (at // len(COLOURS))) % len(SHAPES)] for at in range(len(names))]
    fill = alt.Fill("line:N", scale=palette["scale"], legend=None)
    return base.mark_point(opacity=1, strokeWidth=1.5).encode(
        color=palette,
        fill=fill,
        fillOpacity=alt.condition("datum.open == 1", alt.value(0), alt.value(1)),
        shape=alt.Shape(
            "line:N", scale=alt.Scale(domain=names, range=shapes), legend=legend(names)
        ),
        size=alt.condition(
            "datum.part == 'published' || datum.part == 'laboratory'", alt.value(130), alt.value(50)
        ),
        tooltip=tooltip(frame),
    )


def names_of(frame: pd.DataFrame) -> list[str]:
    """Return the lines of a frame in the order of their rows."""
    return [str(name) for name in frame["line"].unique()]


def legend(names: Sequence[str]) -> Any:  # noqa: ANN401 - a class of Altair
    """Return the legend of lines; None where there is one."""
    import altair as alt

    return (
        alt.Legend(columns=1 if max(map(len, names), default=0) > 34 else 2)
        if len(names) > 1
        else None
    )


def colour(frame: pd.DataFrame) -> alt.Color:
    """Return the colours of lines: those that the frame names, or in turn."""
    import altair as alt

    names = names_of(frame)
    told = frame.dropna(subset="colour") if "colour" in frame else frame[:0].assign(colour="")
    known = dict(zip(told["line"], told["colour"], strict=True))
    others = [name for name in names if name not in known]
    free = [one for one in COLOURS if one not in known.values()] or list(COLOURS)
    known |= {name: free[at % len(free)] for at, name in enumerate(others)}
    chosen = [known[name] for name in names]
    return alt.Color("line:N", scale=alt.Scale(domain=names, range=chosen), legend=legend(names))


def stroke(frame: pd.DataFrame) -> alt.StrokeDash | None:
    """Return how the parts of lines are dashed, with a legend; None where all are one."""
    import altair as alt

    parts = [str(part) for part in frame["part"].unique()]
    if set(parts) <= {"simulated"}:
        return None
    others = cycle(OTHER_STROKES)
    ranges = [list(STROKES[part] if part in STROKES else next(others)) for part in parts]
    scale = alt.Scale(domain=parts, range=ranges)
    told = [part for part in parts if part not in (*names_of(frame), *MARKED)]
    shown = alt.Legend(columns=3, symbolType="stroke", values=told) if len(told) > 1 else None
    return alt.StrokeDash("part:N", scale=scale, legend=shown)


def tooltip(frame: pd.DataFrame) -> list[alt.Tooltip]:
    """Return what the pointer shows."""
    import altair as alt

    if frame["text"].astype(bool).any():
        return [alt.Tooltip("line:N", title=" "), alt.Tooltip("text:N", title="  ")]
    number = "Q" if pd.api.types.is_numeric_dtype(frame["x"]) else "N"
    shown = [alt.Tooltip("line:N", title=" "), alt.Tooltip(f"x:{number}", title="x")]
    return [*shown, alt.Tooltip("y:Q", title="y", format=",.4g")]


def forest(
    frame: pd.DataFrame, x: Axis, at: float | None = None, row_height: int = 26
) -> alt.LayerChart:
    """Describe values with intervals, a row for each name.

    Args:
        frame: As the module has it: `y` is the name of a row, `x` the value.
        x: The axis of values.
        at: Where a dashed line stands, such as 1 for ratios.
        row_height: Pixels of a row.
    """
    import altair as alt

    rows, names = frame["y"].nunique(), names_of(frame)
    own = alt.Y("y:N", sort=None, title=None, axis=alt.Axis(labelLimit=210, grid=True))
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=own, **({"yOffset": alt.YOffset("line:N", sort=None)} if len(names) > 1 else {})
    )
    palette = colour(frame)
    value, ends = x.channel(alt.X, "x"), x.channel(alt.X, "low")
    layers: list[Any] = []
    if at is not None:
        datum = alt.Chart(alt.NamedData("rows")).mark_rule(color=GREY, strokeDash=[5, 3])
        layers.append(datum.encode(x=alt.XDatum(at)))
    if frame["low"].notna().any():
        bars = base.transform_filter("datum.low != null").mark_rule(strokeWidth=2, clip=True)
        layers.append(bars.encode(x=ends, x2="high:Q", color=palette, tooltip=tooltip(frame)))
    layers.append(points(base, frame, palette).encode(x=value))
    height = max(60, row_height * rows * max(1, len(names) // 2))
    return alt.layer(*layers).properties(width="container", height=height)


def bars(frame: pd.DataFrame, x: Axis, y: Axis, height: int = 280) -> alt.Chart:
    """Describe stacked bars; `x` is a name or a number, `line` the piece."""
    import altair as alt

    order = alt.Order("order:Q")
    coded = frame.assign(order=0)
    return (
        alt.Chart(alt.NamedData("rows"))
        .transform_calculate(order=f"indexof({json.dumps(names_of(coded))}, datum.line)")
        .mark_bar()
        .encode(
            x=alt.X("x:N" if x.kind == "names" else "x:O", sort=None, title=x.title),
            y=alt.Y("y:Q", title=y.title, stack="zero"),
            color=colour(frame),
            order=order,
            tooltip=tooltip(frame),
        )
        .properties(width="container", height=height)
    )


def ends_text(names: Sequence[str], most: int = 8) -> str:
    """Name things, the first of many."""
    more = len(names) - most
    return joined([*names[:most], f"{more} more"] if more > 0 else list(names))
