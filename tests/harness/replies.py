"""What a verb prints with ``--json``, checked against its schema, as rows of points and values."""

from __future__ import annotations

import json
from typing import Any

from dvsim.table.reply import Reply


class Told:
    """Points, values with what their points say, and facts.

    Attributes:
        points, values, facts: As printed.
        rows: The values, each with the columns of its point.
    """

    def __init__(self, text: str) -> None:
        whole = json.loads(text)
        assert list(whole) == ["points", "values", "facts"]
        Reply.model_validate_json(text)
        self.points, self.values, self.facts = whole.values()
        self.rows = [self.points[value["point"]] | value for value in self.values]

    @property
    def folders(self) -> list[str]:
        """The folder of each result."""
        return [one["folder"] for one in self.facts["results"]]

    def of(self, metric: str, **where: Any) -> list[dict[str, Any]]:
        """Return the rows of a metric that have these values in other columns."""
        return [
            row
            for row in self.rows
            if row["metric"] == metric and all(row.get(key) == where[key] for key in where)
        ]

    def of_point(self, point: int, component: str) -> list[dict[str, Any]]:
        """Return the values of a component at a point."""
        keys = {"point": point, "component": component}
        return [row for row in self.values if keys.items() <= row.items()]

    def one(self, metric: str, **where: Any) -> dict[str, Any]:
        """Return the only such row."""
        (row,) = self.of(metric, **where)
        return row
