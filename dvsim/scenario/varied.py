"""Keys that take several values: each combination is a point of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Generic, Protocol, Self, TypeVar

from dvsim.scenario.types import Card

LONGEST = 40  # characters of a value in a message

Point = Mapping[str, Any]
"""The varied keys with their values at one point, such as ``{"height": 16, "load": 0.3}``."""


class Tables(Protocol):
    """The tables of a point: a key is found by its short name."""

    def get(self, key: str) -> Any:  # noqa: ANN401 - any value of a table
        """Return the value of a key; None where there is no such table."""

    def put(self, key: str, value: Any) -> Self:  # noqa: ANN401 - any value of a table
        """Return the tables with another value of a key."""


Setting = TypeVar("Setting", bound=Tables)


class Varied(Generic[Setting]):
    """What scenarios of points have in common; a frozen dataclass with these two fields inherits.

    Attributes
    ----------
    setting
        The tables before anything is varied.
    vary
        Tables of varied keys: the values of one table go together, the tables are crossed.
    """

    setting: Setting
    vary: tuple[Mapping[str, tuple[Any, ...]], ...]

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The varied keys of each point, in the order of the tables; the last varies fastest."""
        rows = [
            [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
            for table in self.vary
        ]
        return tuple(
            {key: value for part in parts for key, value in part.items()}
            for parts in product(*rows)
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The varied keys."""
        return tuple(key for table in self.vary for key in table)

    def at(self, point: int | Point) -> Setting:
        """Return the tables of a point, given by its number or by its keys."""
        chosen = self.points[point] if isinstance(point, int) else point
        setting = self.setting
        for key, value in chosen.items():
            setting = setting.put(key, value)
        return setting

    def fixed(self, key: str, value: Any) -> Self:  # noqa: ANN401 - any value of a table
        """Return the scenario with one key set everywhere; it is not varied any more.

        If the key was varied and took this value, what goes together with the value stays, and
        what goes together with others is left out.
        """
        setting, vary = self.setting.put(key, value), []
        for table in self.vary:
            rows = [row for row, other in enumerate(table.get(key, ())) if other == value]
            chosen = {
                other: tuple(values[row] for row in rows) if rows else values
                for other, values in table.items()
                if other != key
            }
            if len(rows) == 1:
                for other, (only,) in chosen.items():
                    setting = setting.put(other, only)
            elif chosen:
                vary.append(chosen)
        return replace(self, setting=setting, vary=tuple(vary))  # type: ignore[type-var]


def plain(value: Any) -> int | float | str | None:  # noqa: ANN401 - any value of a table
    """Return a value of a table as one number or one text, as a column can hold it.

    Examples
    --------
    >>> plain(0.5), plain((0, 2))
    (0.5, '0 2')
    """
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, Card):
        return value.name
    parts = vars(value).values() if is_dataclass(value) else value
    return " ".join(str(plain(part)) for part in parts)


def point_text(point: Point) -> str:
    """Return a point for people.

    Examples
    --------
    >>> point_text({"height": 16, "load": 0.30})
    'height 16, load 0.3'
    """
    return ", ".join(f"{key} {_short(plain(value))}" for key, value in point.items())


def names_of(table: type) -> set[str]:
    """Return the names of the fields of a table."""
    return {item.name for item in fields(table)}


def _short(value: float | str | None) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
