"""Types of the values in scenario files: what each may be, said once, for all kinds.

A field of a table is annotated with one of them. Pydantic reads the annotation to check a file and
to export its JSON Schema, `dvsim.scenario.render` to write the value back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ParamSpec, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FiniteFloat,
    GetCoreSchemaHandler,
    PlainValidator,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from dvsim.errors import nearest
from dvsim.scenario import bounds, find
from dvsim.scenario.card_kinds import Limits
from dvsim.scenario.quantity import show
from dvsim.scenario.types import Card
from dvsim.scenario.units import Dimension, Law, UnitError, format_value, parse

P = ParamSpec("P")
T = TypeVar("T")


class Fixed:
    """Marks a key that cannot be varied."""


@dataclass(frozen=True)
class Quantity:
    """Marks a whole number of base units that is written with a unit: what it may be, and how."""

    limits: Limits
    example: str

    @property
    def dimension(self) -> Dimension:
        """The dimension of the unit."""
        return self.limits.dimension

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema of the number, which is read from its text first."""
        return core_schema.no_info_before_validator_function(
            lambda given: bounded(given, self.limits), handler(source)
        )

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:  # noqa: ANN401 - pydantic's
        """Return the JSON Schema of the text."""
        return {"type": "string", "examples": [self.example]}


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that is asked once for each class (mypy takes no dataclass for a key)."""
    return cast("Callable[P, T]", cache(function))


@remembered
def adapter(spec: type) -> TypeAdapter[Any]:
    """Return pydantic's reader of a class."""
    return TypeAdapter(spec)


@remembered
def value_hints(table: type) -> dict[str, Any]:
    """Return what each field of a table may be, by the key that a file has for it."""
    hints = get_type_hints(table, include_extras=True)
    return {spelled(table, item.name): hints[item.name] for item in fields(table)}


def can_vary(hint: Any) -> bool:  # noqa: ANN401 - any annotation
    """Return whether a key with this annotation can stand in ``[[vary]]``."""
    return not any(isinstance(mark, Fixed) for mark in _metadata(hint))


@remembered
def spelled(table: type, name: str) -> str:
    """Return the key that a file has for a field."""
    aliases = (mark.validation_alias for mark in _marks(table, name) if isinstance(mark, FieldInfo))
    return next((alias for alias in aliases if isinstance(alias, str)), name)


@remembered
def unit_of(table: type, name: str) -> Dimension | None:
    """Return the dimension of a field that is written with a unit; None of others."""
    units = (mark.dimension for mark in _marks(table, name) if isinstance(mark, Quantity))
    return next(units, None)


def _marks(table: type, name: str) -> Iterator[Any]:
    hint = get_type_hints(table, include_extras=True)[name]
    return _metadata(hint)


def _metadata(hint: Any) -> Iterator[Any]:  # noqa: ANN401 - any annotation
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
    for inner in get_args(hint):
        yield from _metadata(inner)


def bounded(given: object, limits: Limits) -> int | float | Law | str:
    """Return a value in base units.

    Raises:
        UnitError: If it is no value of the dimension, or out of its bounds.
    """
    value = parse(given, limits.dimension)
    if isinstance(value, str):
        if value not in limits.words:
            fault = f"must be one of {', '.join(limits.words)}, not {show(value)}"
            raise UnitError(fault, nearest(value, limits.words))
        return value
    if isinstance(value, Law):
        most = Law(bounds.TIME, bounds.SLOPE)
        if value.fixed_ps > most.fixed_ps or value.per_byte_fs > most.per_byte_fs:
            limit = format_value(most, "law")
            raise UnitError(f"must be at most {limit}, is {format_value(value, 'law')}")
        return value
    if value < limits.least or (limits.above and value == limits.least):
        relation, bound = "more than" if limits.above else "at least", limits.least
    elif value > limits.most:
        relation, bound = "at most", limits.most
    else:
        return value
    limit, given_text = (format_value(number, limits.dimension) for number in (bound, value))
    raise UnitError(f"must be {relation} {limit}, is {given_text}")


def _size_or_count(value: object) -> int:
    return parse(value, "size" if isinstance(value, str) else "count")


def _name(name: str) -> str:
    fault = find.name_fault(name)
    if fault:
        raise ValueError(fault)
    return name


def _card(value: object) -> Card:
    if not isinstance(value, Card):
        raise ValueError(f"must be the name of a card or a table, not {show(value)}")
    return value


class Vary:
    """Pydantic's schema of ``[[vary]]``: of each key of some tables a list of its values."""

    def __init__(self, *tables: type) -> None:
        self.tables = tables

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema: tables of lists, which become tuples."""
        keys = {
            key: core_schema.typed_dict_field(
                core_schema.no_info_after_validator_function(
                    tuple,
                    core_schema.list_schema(handler.generate_schema(hint), min_length=1),
                ),
                required=False,
            )
            for table in self.tables
            for key, hint in value_hints(table).items()
            if can_vary(hint)
        }
        table = core_schema.typed_dict_schema(keys, extra_behavior="forbid")
        checked = core_schema.no_info_after_validator_function(_of_one_length, table)
        return core_schema.tuple_schema([checked], variadic_item_index=0)


def _of_one_length(table: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    lengths = {key: len(values) for key, values in table.items()}
    if not lengths:
        raise ValueError("names no key to vary")
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise ValueError(
            f"lists of one table go together and must be of one length: {lengths_text}"
        )
    return table


def _some(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("must not be empty")
    return values


Some = AfterValidator(_some)
Varied = tuple[dict[str, tuple[Any, ...]], ...]
Text = Annotated[str, Field(strict=True, min_length=1)]
Name = Annotated[Text, AfterValidator(_name)]


def _exact(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, Field(strict=True), BeforeValidator(_exact)]
Count = Annotated[Whole, Field(ge=1, le=bounds.COUNT)]
Messages = Annotated[Whole, Field(ge=1, le=bounds.MESSAGES)]
Receivers = Annotated[Whole, Field(ge=1, le=bounds.RECEIVERS)]
Iterations = Annotated[Whole, Field(ge=1, le=bounds.ITERATIONS)]
MessageSize = Annotated[Whole, BeforeValidator(_size_or_count), Field(le=bounds.MESSAGE)]
Number = Annotated[FiniteFloat, Field(strict=True)]
Share = Annotated[Number, Field(ge=0)]
Load = Annotated[Number, Field(ge=bounds.LOAD[0], le=bounds.LOAD[1])]
Interval = Annotated[int, Quantity(Limits("time", bounds.SHORTEST, most=bounds.TIME), "5.001 ms")]
Tolerances = Annotated[
    Mapping[str, Share], Field(description="numbers by which the source's sentences are decided")
]
"""Declared before any run."""
CardField = Annotated[
    Card,
    PlainValidator(_card),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
]
