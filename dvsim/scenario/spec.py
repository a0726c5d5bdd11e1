"""What every scenario has, whatever its kind: a value that is frozen, resolved and checked.

A kind says what its files hold in dataclasses: a `Spec` for the file, a `Table` for each table in
it. Each field is annotated with what it may be (`dvsim.scenario.fields`). There is nothing beside
the class: pydantic checks a file by it, the value in memory is one of it, `dvsim.scenario.render`
writes it back. They are dataclasses and no pydantic models so that a checked value can be copied
with `dataclasses.replace`, without being read anew, and compared without its path.

Keys of ``[[vary]]`` take several values: each combination is a *point*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from itertools import product
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

from pydantic import Field

from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.fields import Name, Text, Whole, remembered, spelled
from dvsim.scenario.types import Card

LONGEST = 40  # characters of a value in a message

Point = Mapping[str, Any]
"""The varied keys with their values at one point, such as ``{"height": 16, "load": 0.3}``."""


class Table:
    """A table of a scenario file: a frozen dataclass whose fields are its keys.

    Where its keys can be varied instead, `VARIED`, none of them has to stand in it.
    """

    VARIED: ClassVar[bool] = False
    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:  # noqa: ANN401 - pydantic's
        """Return the JSON Schema of the table."""
        schema: dict[str, Any] = handler.resolve_ref_schema(handler(core))
        cls.describe(schema)
        return schema

    @classmethod
    def describe(cls, schema: dict[str, Any]) -> None:
        """Make the JSON Schema that of a table in a file."""
        if cls.VARIED:
            schema.pop("required", None)


@dataclass(frozen=True)
class WhatIf(Table):
    """What a scenario is in an open question that several of them answer together."""

    # Of the question; scenarios with one name belong together.
    name: Name
    title: Text
    question: Text
    member: Name  # the scenario that is varied, such as ``h3/dv-8192``
    says: Text  # what is different in this one, in words; of the baseline, what it is
    place: Annotated[Whole, Field(ge=0)]  # 0 of the baseline, then in the order of the file
    # ``all`` if messages of all receivers count together, ``each`` if of one of them.
    rate: Literal["all", "each"]
    also: tuple[Text, ...]  # what else the answer tells, see `dvsim.contract.kind.Kind.measures`
    assumed: tuple[Text, ...]  # what the answer rests on, in sentences


@dataclass(frozen=True, kw_only=True)
class Spec(Table):
    """One question, with everything that its answer depends on."""

    # The name of its kind, and whether it stands in its files as ``kind``.
    KIND: ClassVar[str]
    NAMED: ClassVar[bool] = True
    LENGTH: ClassVar[str]  # the key that says how long a point is run, which a scale multiplies
    # The keys that only say so, and tell no points apart; None for `LENGTH` alone.
    LENGTHS: ClassVar[tuple[str, ...] | None] = None
    # The key that stands for those that are varied together with it, on an axis; empty for the
    # first that tells points apart.
    FOREMOST: ClassVar[str] = ""
    # What is run for each replication: a point, or what else a point consists of.
    TASKS: ClassVar[str] = "runs"
    # The numbers, besides those of cards, that a what-if may multiply.
    MULTIPLIED: ClassVar[tuple[str, ...]] = ()

    # For people.
    name: Name
    title: Text
    question: Text
    source: Text
    path: str = field(compare=False)
    # The open question that it is a part of.
    whatif: Annotated[WhatIf | None, Field(description="written by dvsim, of a [[variant]]")] = None

    @property
    def vary(self) -> tuple[Mapping[str, tuple[Any, ...]], ...]:
        """Tables of varied keys: the values of one table go together, the tables are crossed."""
        return ()

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
    def reference(self) -> Any:  # noqa: ANN401 - a table of the kinds that have one
        """The published columns that its results are held against; None if there are none."""
        return None

    @property
    def declared(self) -> Mapping[str, float]:
        """The numbers by which sentences of its source are decided, declared before any run."""
        tolerances = getattr(self, "tolerance", {})
        return tolerances if isinstance(tolerances, Mapping) else {}

    @classmethod
    def lengths(cls) -> tuple[str, ...]:
        """Return the keys that only say how long a point is run, see `LENGTHS`."""
        return (cls.LENGTH,) if cls.LENGTHS is None else cls.LENGTHS

    @property
    def keys(self) -> tuple[str, ...]:
        """The varied keys."""
        return tuple(key for table in self.vary for key in table)

    @property
    def tasks(self) -> int:
        """How many tasks a replication consists of, see `TASKS`."""
        return len(self.points)

    @cached_property
    def cards(self) -> dict[str, Card]:
        """The cards in use, by role."""
        return {
            item.name: value
            for _, table in self.tables()
            for item in fields(table)
            if isinstance(value := getattr(table, item.name), Card)
        }

    def used_cards(self) -> list[tuple[str, Card]]:
        """Return every card that a point uses, with its role, each once."""
        used: dict[tuple[str, str], Card] = {}
        for point in range(len(self.points)):
            for role, card in self.at(point).cards.items():
                used.setdefault((role, card.name), card)
        return [(role, card) for (role, _), card in used.items()]

    def tables(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Yield the tables of what is asked, those inside others after them, each with its path."""
        every = _tables(self, ())
        return ((path, table) for path, table in every if not isinstance(table, WhatIf))

    def every_key(self) -> list[str]:
        """Return the full names of all keys, in the order of the file: tables, then parameters."""
        keys = []
        for path, table in self.tables():
            for own in fields(table):
                name, value = spelled(type(table), own.name), getattr(table, own.name)
                inside = value.parameters if isinstance(value, Card) else ()
                if not isinstance(value, Table):
                    keys += [
                        ".".join((*path, *more)) for more in ((name,), *((name, i) for i in inside))
                    ]
        known = {key.rpartition(".")[2] for key in keys}
        for role, card in self.cards.items():  # optional ones take no short key from another
            keys += [
                f"system.{role}.{name}" for name in KINDS.get(card.kind, ()) if name not in known
            ]
        return keys

    def has(self, key: str) -> bool:
        """Return whether there is a table with a key of this name."""
        return self.place(key) is not None

    def value(self, key: str) -> Any:  # noqa: ANN401 - any value of a table
        """Return the value of a key, by its short name; None where there is no such table."""
        path = self.place(key)
        if path is None:
            return None
        value: Any = self
        for name in (*path, key):
            value = getattr(value, name)
        return value

    def get(self, key: str) -> Any:  # noqa: ANN401 - any value of a table
        """Return the value of a key, by its short name, of a card its name."""
        value = self.value(key)
        return value.name if isinstance(value, Card) else value

    def put(self, key: str, value: Any) -> Self:  # noqa: ANN401 - any value of a table
        """Return the scenario with another value of a key, by the short name that `vary` uses."""
        path = self.place(key)
        if path is None:
            raise KeyError(key)
        changed: Self = _put(self, (*path, key), value)
        return changed

    def at(self, point: int | Point) -> Self:
        """Return the scenario of a point alone, given by its number or by its keys."""
        chosen = self.points[point] if isinstance(point, int) else point
        spec = self.unvaried()
        for key, value in chosen.items():
            spec = spec.put(key, value)
        return spec

    def unvaried(self) -> Self:
        """Return the scenario before anything is varied."""
        return self.varied(()) if self.vary else self

    def fixed(self, key: str, value: Any) -> Self:  # noqa: ANN401 - any value of a table
        """Return the scenario with one key set everywhere; it is not varied any more.

        If the key was varied and took this value, what goes together with the value stays, and
        what goes together with others is left out.
        """
        spec, vary = self.put(key, value), []
        for table in self.vary:
            own = table.get(key, ())
            rows = [row for row, other in enumerate(own) if other == value] or range(len(own))
            rows = rows if own else range(len(next(iter(table.values()))))
            others = {other: values for other, values in table.items() if other != key}
            kept: list[tuple[Any, ...]] = []  # cards have no hash
            for row in rows:
                together = tuple(values[row] for values in others.values())
                kept += [together] * (together not in kept)
            chosen = dict(zip(others, zip(*kept, strict=True), strict=False))
            if own and len(kept) == 1:
                for other, (only,) in chosen.items():
                    spec = spec.put(other, only)
            elif chosen:
                vary.append(chosen)
        return spec.varied(tuple(vary)) if self.vary else spec

    def scaled(self, scale: float) -> Self:
        """Return the scenario whose length, at least 1, is multiplied at all of its points."""

        def times(number: int) -> int:
            return max(1, round(number * scale))

        longer = self.put(self.LENGTH, times(self.get(self.LENGTH)))
        if self.LENGTH not in self.keys:
            return longer
        vary = tuple(
            {k: tuple(map(times, v)) if k == self.LENGTH else v for k, v in table.items()}
            for table in self.vary
        )
        return longer.varied(vary)

    def varied(self, vary: tuple[Mapping[str, tuple[Any, ...]], ...]) -> Self:
        """Return the scenario with other tables of varied keys."""
        changes: dict[str, Any] = {"vary": vary}  # which is a field of a kind that has points
        return replace(self, **changes)

    def place(self, key: str) -> tuple[str, ...] | None:
        """Return the path to the table that has a key of this name; None if none has."""
        paths = (path for path, table in self.tables() if key in names_of(type(table)))
        return next(paths, None)

    @classmethod
    def describe(cls, schema: dict[str, Any]) -> None:
        """Make the JSON Schema that of a file: with what a file says of itself."""
        head: dict[str, Any] = {"kind": {"const": cls.KIND}} if cls.NAMED else {}
        head |= {
            "extends": {
                "type": "string",
                "description": "a file beside this one, or a scenario, to build on",
            },
            "abstract": {
                "type": "boolean",
                "default": False,
                "description": "true for a part that other files extend",
            },
        }
        own = {key: value for key, value in schema["properties"].items() if key != "path"}
        needed = [key for key in schema["required"] if key not in ("name", "path")]
        needed += ["kind"] if cls.NAMED else []
        schema |= {"properties": head | own, "required": needed}


def _tables(table: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    for item in fields(table):
        value = getattr(table, item.name)
        if isinstance(value, Table):
            yield (*path, item.name), value
            yield from _tables(value, (*path, item.name))


def _put(table: Any, path: tuple[str, ...], value: Any) -> Any:  # noqa: ANN401 - of its class
    name, *rest = path
    inner = _put(getattr(table, name), tuple(rest), value) if rest else value
    return replace(table, **{name: inner})


def table_of(hint: Any) -> type[Table] | None:  # noqa: ANN401 - any annotation
    """Return the table that an annotation is of, None where it is a value."""
    if isinstance(hint, type):
        return hint if issubclass(hint, Table) else None
    if get_origin(hint) not in (Annotated, Union, UnionType):
        return None
    return next((table for part in get_args(hint) if (table := table_of(part))), None)


@remembered
def names_of(table: type) -> frozenset[str]:
    """Return the names of the fields of a table."""
    return frozenset(item.name for item in fields(table))


def plain(value: Any) -> int | float | str | None:  # noqa: ANN401 - any value of a table
    """Return a value of a table as one number or one text, as a column can hold it.

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

    >>> point_text({"height": 16, "load": 0.30})
    'height 16, load 0.3'
    """
    return ", ".join(f"{key} {_short(plain(value))}" for key, value in point.items())


def _short(value: float | str | None) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
