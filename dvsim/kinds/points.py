"""Kinds whose scenarios have points: each is run with its replications, a study comes out.

What such a kind has to say is its metrics and how one replication of a point is run. Nothing
heavy is imported here: a scenario is read and shown without any library that runs it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

from dvsim.contract.kind import Job, Kind, Own, Plain, Reading
from dvsim.errors import Fault
from dvsim.scenario.document import Document
from dvsim.table.metrics import VALUES

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.kinds.study import Done
    from dvsim.table.result import Headline, Result
    from dvsim.table.stages import Limit


def note_of(notes: Sequence[str]) -> str:
    """Return why some replications of a point have not settled; empty if all have.

    Their texts differ in their figures: the first is given, and how many there are.
    """
    texts = [note for note in notes if note]
    count = f" (in {len(texts)} of {len(notes)} replications)" if len(notes) > 1 else ""
    return f"{texts[0]}{count}" if texts else ""


class PointsKind(Kind):
    """A kind whose results are studies."""

    # What a reading counts, with that a second in words, for the progress.
    work: ClassVar[Mapping[str, str]] = {}
    # What yields a result as people read it, as ``MODULE:NAME``: imported when it is needed.
    text: ClassVar[str] = "dvsim.study.points_text:lines_of"
    # The tables that a result has besides its values, with the types of their columns; one with
    # the name ``runs`` says of each replication its fidelity, errors and notes.
    sides: ClassVar[Mapping[str, Mapping[str, str]]] = {}

    @property
    def units(self) -> Mapping[str, str]:
        """The metrics of a run with their units."""
        return {name: metric.unit for name, metric in self.registry.items()}

    @property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """The tables of a result, by name, with the types of their columns."""
        return {"values": VALUES, **self.sides}

    def metrics(self, scenario: Own) -> Mapping[str, str]:
        """Return the metrics with their units."""
        return self.units

    def missing(self, document: Document, roles: Iterable[str]) -> Iterator[Fault]:
        """Yield the cards that a file neither has nor varies, if it has a table of the system."""
        tables = document.data.get("vary")
        varied = {key for table in tables for key in table} if isinstance(tables, list) else ()
        for role in roles if isinstance(document.data.get("system"), dict) else ():
            if document.at(("system", role)) is None and role not in varied:
                yield document.fault(("system", role), "missing, and not varied")

    def run(self, scenario: Own, seed: int, replication: int) -> Mapping[str, float]:
        """Run one replication of a point and return its metrics by name."""
        raise NotImplementedError

    def replicate(self, scenario: Own, seed: int, replication: int) -> Reading:
        """Run one replication of a point and return its reading."""
        return Plain(self.run(scenario, seed, replication))

    def rows(self, runs: Sequence[Done]) -> pd.DataFrame:
        """Return the values of runs, with the columns of `VALUES`."""
        from dvsim.kinds.study import values_of

        return values_of(self, runs)

    def headline_at(self, result: Own, point: int, *, each: bool) -> Headline:
        """Return the metric that answers at a point; `each` is of systems with receivers."""
        from dvsim.table.result import Headline

        first = self.headline
        name = next((name for name in first if name in result.there), first[0])
        unit = result.METRICS[name]
        text = name if unit == "1" else f"{name} {unit}"
        return Headline(name, text, result.each(point, name), self.metric(name).signed)

    def answer(self, result: Own) -> str:
        """Return the metric that answers, in words."""
        return str(result.rate)

    def limit(self, result: Own) -> Limit | None:
        """Return what keeps a result from being faster; None where that is said by point."""
        return None

    def gathered(
        self, scenario: Own, seed: int, runs: Sequence[Done]
    ) -> Mapping[str, pd.DataFrame]:
        """Return the `sides` of the runs of a scenario."""
        return {}

    def over_replications(self, result: Own) -> Mapping[str, pd.DataFrame]:
        """Return the sides of a result over all its replications."""
        return dict(result.sides)

    def drawn(self, result: Own) -> Sequence[str]:
        """Return the metrics that say something about a result, as figures have them."""
        shown: Sequence[str] = result.SHOWN
        return shown

    def listed(self, result: Own) -> Sequence[str]:
        """Return the metrics that the text of a result has."""
        shown: Sequence[str] = result.SHOWN
        return shown

    def notes(self, result: Own) -> dict[int, str]:
        """Return by point why it has not settled; points that have settled are absent."""
        if "runs" not in result.sides:
            return {}
        texts = result.sides["runs"].groupby("point")["notes"].agg(list).map(note_of)
        return {int(point): text for point, text in texts.items() if text}

    def axes(self, scenario: Own, keys: pd.DataFrame) -> pd.DataFrame:
        """Keep one of the keys that were varied together: the first that tells the points apart.

        `FOREMOST` of the scenario comes before the others.
        """
        independent = keys
        for group in scenario.vary:
            names = [name for name in group if name in keys]
            distinguishing = [name for name in names if keys[name].nunique() == len(group[name])]
            if len(names) > 1 and distinguishing:
                foremost = scenario.FOREMOST
                chosen = foremost if foremost in distinguishing else distinguishing[0]
                independent = independent.drop(columns=[name for name in names if name != chosen])
        return independent

    def levels(self, scenario: Own, metric: str, key: str | None) -> list[tuple[float, str]]:
        """Return the published levels of a metric along a key, each with what it is."""
        return []

    def made(self, scenarios: Sequence[Own], job: Job) -> Generator[Result, None, None]:
        """Run scenarios and yield the study of each; otherwise as `Kind.made`."""
        from dvsim.kinds.study import studies

        return studies(self, scenarios, job)

    def lines(self, result: Own) -> Iterator[Any]:
        """Yield what was asked and the table of points, or what `text` yields instead."""
        lines: Iterator[Any] = resolve_name(self.text)(result)
        return lines

    @property
    def first(self) -> Sequence[str]:
        """All metrics."""
        return list(self.units)

    @property
    def headline(self) -> Sequence[str]:
        """The metrics of its table for people."""
        return self.shown or self.first

    @property
    def measures(self) -> Sequence[str]:
        """The metrics that have a formula, all if none has."""
        return super().measures or self.first

    def value(self, result: Own, point: int, name: str) -> float:
        """Return a metric at a point: by its formula, else the mean over the replications."""
        if self.registry[name].of is not None:
            return super().value(result, point, name)
        return float(result.wide[result.wide["point"] == point][name].mean())
