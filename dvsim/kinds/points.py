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

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.kinds.study import Done
    from dvsim.study.points import PointsStudy


class PointsKind(Kind):
    """A kind whose results are studies."""

    studies = True
    # What a reading counts, and that a second in words, for the progress; empty for nothing.
    work: ClassVar[tuple[str, str]] = ("", "")
    # The class of its studies, and what yields one as people read it, each as ``MODULE:NAME``:
    # they are imported when they are needed.
    study: ClassVar[str] = "dvsim.study.points:PointsStudy"
    text: ClassVar[str] = "dvsim.study.points_text:lines_of"

    @property
    def units(self) -> Mapping[str, str]:
        """The metrics of a run with their units."""
        return {name: metric.unit for name, metric in self.registry.items()}

    @property
    def result(self) -> type[PointsStudy]:
        """The class of its studies."""
        study: type[PointsStudy] = resolve_name(self.study)
        return study

    @property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """The tables of a study, by name, with the types of their columns."""
        numbers = dict.fromkeys(self.units, "float64")
        return {"points": {"point": "int32", "replication": "int16"} | numbers}

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

    def gathered(
        self, scenario: Own, seed: int, runs: Sequence[Done]
    ) -> Mapping[str, pd.DataFrame]:
        """Return the tables of the runs of a scenario."""
        from dvsim.kinds.study import points_of

        return {"points": points_of(self, runs)}

    def known(self, scenario: Own) -> dict[str, Any]:
        """Return what else a manifest says; JSON types."""
        return {}

    def made(self, scenarios: Sequence[Own], job: Job) -> Generator[PointsStudy, None, None]:
        """Run scenarios and yield the study of each; otherwise as `Kind.made`."""
        from dvsim.kinds.study import studies

        return studies(self, scenarios, job)

    def lines(self, result: Own) -> Iterator[Any]:
        """Yield what was asked and the table of points, or what `text` yields instead."""
        lines: Iterator[Any] = resolve_name(self.text)(result)
        return lines

    def brief(self, result: Own) -> Mapping[str, Sequence[Any]]:
        """Return the columns of the points."""
        return {str(name): result.points[name].tolist() for name in result.points.columns}

    def point_numbers(self, scenario: Own, table: Mapping[str, Sequence[Any]]) -> list[Any]:
        """Return the metrics of each point."""
        from dvsim.study.point_numbers import of_points

        return of_points(scenario, table, self.units)

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
        """All metrics."""
        return self.first

    def value(self, result: Own, point: int, name: str) -> float:
        """Return the mean of a metric over the replications of a point."""
        points = result.points
        return float(points[points["point"] == point][name].mean())
