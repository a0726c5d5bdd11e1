"""What ``--json`` prints, the same for every verb: points, values, and facts about both.

::

    {"points": [{"point": 0, "origin": "sim", "scenario": "h3/dv-8", "sockets": 1, …}, …],
     "values": [{"point": 0, "component": "system", "metric": "rate", "value": 10.1, …}, …],
     "facts": {"command": "dvsim run …", "version": "0.2.0", "results": [{…}], …}}

A point says what was asked, a value what came out there: an estimate, and where it is held against
another what became of it. docs/reference/json.md has examples.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from dvsim._version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.table.compare import Comparison
    from dvsim.table.estimate import Change

Number = float | None


class Point(BaseModel):
    """What was asked; each varied key is a column of its own besides."""

    model_config = ConfigDict(extra="allow")

    point: int = Field(description="its number, to which values refer")
    origin: Literal["sim", "emu", "lab", "published", "theory"] = Field(
        description="who made its numbers"
    )
    result: int | None = Field(None, description="which of facts.results it is of, from 0")
    scenario: str | None = Field(None, description="the name of the scenario")
    kind: str | None = Field(None, description="the kind of the scenario")
    source: str | None = Field(None, description="theory, file or paper that says it")
    limit: str | None = Field(None, description="the stage that keeps it from being faster")
    busy: Number = Field(None, description="share of the time for which that stage is at work")
    note: str | None = Field(None, description="why its numbers depend on how long it ran")
    error: str | None = Field(None, description="why it has no values")


class Value(BaseModel):
    """One number at one point, with its 95 % interval over replications."""

    model_config = ConfigDict(extra="forbid")

    point: int = Field(description="the number of its point")
    component: str = Field("", description="what it is of, such as r1, bridge; system for all")
    instance: int = Field(0, description="which of several, from 1; 0 where there is one")
    metric: str = Field(description="what is measured, such as rate, messages.mean, latency")
    value: Number = Field(description="the mean over replications; null where there is none")
    low: Number = Field(None, description="the lower end of its interval")
    high: Number = Field(None, description="the upper end")
    n: int = Field(description="how many replications have it")
    unit: str = Field(description="its unit; 1 for a plain number")
    against: int | None = Field(None, description="the point that it is held against")
    other: Number = Field(None, description="the value there")
    ratio: Number = Field(None, description="value / other")
    difference: Number = Field(
        None, description="value - other, where that is compared: of shares, and beside 0"
    )
    change_low: Number = Field(None, description="the lower end of ratio or difference")
    change_high: Number = Field(None, description="the upper end")
    by: str | None = Field(None, description="how that interval was made: paired, Welch")
    verdict: str | None = Field(
        None, description="rises, falls, stays, equal, open; pass, fail where a tolerance judges"
    )
    tolerance: Number = Field(None, description="the relative error that is allowed")


class Facts(BaseModel):
    """What else there is to say; a verb has more: texts, numbers, lists of flat objects."""

    model_config = ConfigDict(extra="allow")

    version: str = Field(__version__, description="of dvsim")
    command: str = Field("", description="what was typed")
    results: list[dict[str, Any]] = Field(
        [],
        description="each result: scenario, seed, replications, backend, folder, changed, manifest",
    )


class Reply(BaseModel):
    """What a verb prints with ``--json``."""

    points: list[Point] = []
    values: list[Value] = []
    facts: Facts = Facts()
    _there: dict[tuple[int, str, str], Value] = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, *results: Any, **facts: Any) -> Reply:  # noqa: ANN401 - results of any kind
        """Return the reply of results, and of facts."""
        made = cls(points=[], values=[], facts=Facts(results=[], **facts))
        for result in results:
            made.result(result)
        return made

    def at(self, origin: str, keys: Mapping[Any, Any] | None = None, **facts: Any) -> int:  # noqa: ANN401
        """Add a point, and return its number.

        Args:
            origin: See `Point`.
            keys: What was varied.
            facts: The other fields of a point.
        """
        number = len(self.points)
        about = {str(key): finite(value) for key, value in {**(keys or {}), **facts}.items()}
        self.points.append(Point.model_validate({**about, "point": number, "origin": origin}))
        return number

    def add(self, point: int, metric: str, value: float, **more: Any) -> Value:  # noqa: ANN401
        """Add a value, and return it; `more` are its other fields."""
        about = {key: finite(item) for key, item in more.items()}
        row = Value(point=point, metric=metric, value=finite(value), **about)
        self.values.append(row)
        return self._there.setdefault((point, row.component, metric), row)

    def row(self, point: int, metric: str, value: float, *, component: str, **more: Any) -> Value:  # noqa: ANN401
        """Return a value that is there, or else add it."""
        there = self._there.get((point, component, metric))
        return there or self.add(point, metric, value, component=component, **more)

    def say(self, **facts: Any) -> None:  # noqa: ANN401 - JSON types
        """Add facts."""
        self.facts = self.facts.model_copy(update=facts)

    def result(self, result: Any, *, numbers: bool = True) -> list[int]:  # noqa: ANN401 - any kind
        """Add a result, with its points, values and theory unless it is without `numbers`.

        Returns:
            list: The numbers of its points.
        """
        from dvsim.contract.find import kind_of
        from dvsim.study.changes import changes_of

        scenario, place = result.scenario, len(self.facts.results)
        self.facts.results.append(
            {
                "scenario": scenario.name,
                "seed": result.seed,
                "replications": result.replications,
                "backend": result.backend,
                "folder": None if result.folder is None else str(result.folder),
                "changed": list(changes_of(scenario).said),
                "manifest": result.manifest.plain(),
            }
        )
        if not numbers:
            return []
        asked = {"result": place, "scenario": scenario.name, "kind": kind_of(scenario).name}
        return self.rows(result, "sim" if result.simulated else "emu", asked)

    def rows(self, result: Any, origin: str, asked: Mapping[str, Any]) -> list[int]:  # noqa: ANN401
        """Add the points and values of a result; `asked` are fields of its points."""
        notes, numbers = result.notes(), {}
        swept = result.manifest.swept is not None
        runs = result.sides["points"].set_index("point").to_dict("index") if swept else {}
        for number, keys in result.points.to_dict(orient="index").items():
            stage, busy = result.bottleneck(number) or (None, None)
            more = {"limit": stage, "busy": busy, "note": notes.get(number)}
            if number in runs:
                more |= {"limit": runs[number]["bottleneck"] or None, "run": runs[number]["run"]}
            numbers[number] = self.at(origin, keys, **asked, **more)
        table = result.estimates()
        columns = [name for name in Value.model_fields if name in table]
        for row in table[columns].to_dict(orient="records"):
            own = {str(name): item for name, item in row.items()}
            self.add(**{**own, "point": numbers[own["point"]]})
        said: dict[tuple[int, str], int] = {}
        for row in result.beside.to_dict(orient="records"):
            key = (numbers[row["point"]], row["name"])
            if key not in said:
                about = self.points[key[0]].model_dump(exclude={"point", "origin", "limit", "busy"})
                said[key] = self.at("theory", about, source=row["name"])
            unit = result.METRICS.get(row["metric"], "1")
            self.add(said[key], row["metric"], row["value"], n=1, unit=unit)
        for keys in result.failed.to_dict(orient="records") if swept else ():
            self.at(origin, keys, **asked)
        return list(numbers.values())

    def hold(self, comparison: Comparison, numbers: Sequence[Sequence[int]]) -> None:
        """Say of the values of results what became of those of the first.

        Args:
            comparison: Of the results.
            numbers: The numbers here of the points of each, as `result` gives them.
        """
        there, known = self._there, ("value", "low", "high", "n", "unit", "component")
        ends = ("change_low", "change_high", "by", "verdict")
        for row in comparison.rows.to_dict(orient="records"):
            side, metric = row["result"] - 1, (row["component"], row["metric"])
            first, point = (numbers[n][comparison.numbers[n][row["point"]]] for n in (0, side))
            own = self.row(point, row["metric"], **{name: row[name] for name in known})
            if side and (first, *metric) in there:
                change = row["kind"], row["change"], *(row[name] for name in ends)
                against(own, there[first, *metric], *change)

    def text(self) -> str:
        """Return it as JSON: what is not there is left out of points, and null in values."""
        compared = any(row.against is not None or row.verdict for row in self.values)
        beside = {*list(Value.model_fields)[9:]} if not compared else None
        part = {
            "points": [row.model_dump(exclude_none=True) for row in self.points],
            "values": [row.model_dump(exclude=beside) for row in self.values],
            "facts": self.facts.model_dump(),
        }
        return json.dumps(part, ensure_ascii=False, allow_nan=False)


def against(row: Value, base: Value, kind: str, change: float, *more: Any) -> None:  # noqa: ANN401
    """Say of a value what became of that of another point; see `Value`.

    Args:
        row, base: The value, and what it is held against.
        kind: ``ratio``, ``difference``, or empty where there is none.
        change: That.
        more: The ends of its interval, how that was made, and the verdict.
    """
    row.against, row.other = base.point, base.value
    if kind:
        setattr(row, kind, finite(change))
        names = "change_low", "change_high", "by", "verdict"
        for name, item in zip(names, more, strict=False):
            setattr(row, name, finite(item))


def told(change: Change | None, verdict: str) -> tuple[Any, ...]:
    """Return a change as `against` takes it."""
    if change is None:
        return "", math.nan, None, None, "", verdict
    return change.kind, change.value, change.low, change.high, change.by, verdict


def finite(value: Any) -> Any:  # noqa: ANN401 - any value of a row
    """Return a value as JSON has it: null for what is not a number."""
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them."""
    rows = table.to_dict(orient="records")
    return [{str(key): finite(value) for key, value in row.items()} for row in rows]
