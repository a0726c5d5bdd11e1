"""A scenario of a switch or a network alone, as the rest of dvsim sees it: frozen and resolved.

Its tables hold the arguments of `dvsim.Switch` or `dvsim.Network` and of their ``run``. Keys of
`SwitchScenario.vary` take several values; each combination is a *point*, and `SwitchScenario.at`
gives the tables of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from typing import Any

MOST_RECORDED = 200  # packets, and slots, that a report can show moving

LONGEST = 40  # characters of a value in a message

Point = Mapping[str, Any]
"""The varied keys with their values at one point, such as ``{"height": 16, "load": 0.3}``."""


@dataclass(frozen=True)
class SwitchTable:
    """The arguments of `dvsim.Switch`, and how long a slot takes where that is known.

    `injecting` is a number of angles, the angles themselves, or None for all.
    """

    height: int
    angles: int
    injecting: int | tuple[int, ...] | None = None
    crossing: str = "brc"
    exit: str = "angle"
    faults: tuple[tuple[str, int, int, int], ...] = ()
    slot_ps: int | None = None


@dataclass(frozen=True)
class NetworkTable:
    """The arguments of `dvsim.Network`: a preset, or switch, levels and ports; None is its own."""

    preset: str | None = None
    switch: SwitchTable | None = None
    levels: int | None = None
    ports: int | None = None
    planes: int | None = None
    link: int | None = None
    fidelity: str = "cycle"


@dataclass(frozen=True)
class Hot:
    """A share of the packets that goes to a few outputs."""

    fraction: float
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class TrafficTable:
    """The arguments of ``run``; `pattern` is its ``traffic``.

    `trace` holds the packets themselves, as (slot, input, output).
    """

    slots: int
    warmup: int = 0
    load: float | None = None
    pattern: str = "uniform"
    injection: str = "drop"
    hot: Hot | None = None
    burst: int | None = None
    duty: float | None = None
    permutation: tuple[int, ...] | None = None
    trace: tuple[tuple[int, int, int], ...] | None = None


@dataclass(frozen=True)
class Record:
    """A short run of the first point that is kept slot by slot: so many packets, so many slots."""

    packets: int
    slots: int


@dataclass(frozen=True)
class Setting:
    """The tables of one point; exactly one of `switch` and `network` is there."""

    switch: SwitchTable | None
    network: NetworkTable | None
    traffic: TrafficTable

    def has(self, key: str) -> bool:
        """Say whether there is a table that a key belongs to, by its short name."""
        switch = self.switch if self.network is None else self.network.switch
        tables = (table for table in (self.traffic, self.network, switch) if table is not None)
        return any(key in _names(type(table)) for table in tables)

    def get(self, key: str) -> Any:  # noqa: ANN401 - any value of a table
        """Return the value of a key, by its short name; None where there is no such table."""
        switch = self.switch if self.network is None else self.network.switch
        for table in (self.traffic, self.network, switch):
            if table is not None and key in _names(type(table)):
                return getattr(table, key)
        return None

    def put(self, key: str, value: Any) -> Setting:  # noqa: ANN401 - any value of a table
        """Return the setting with another value of a key, by the short name that `vary` uses."""
        if key in _names(TrafficTable):
            return replace(self, traffic=replace(self.traffic, **{key: value}))
        if self.switch is not None:
            return replace(self, switch=replace(self.switch, **{key: value}))
        network = self.network
        assert network is not None  # one of the two is there
        if key in _names(NetworkTable):
            return replace(self, network=replace(network, **{key: value}))
        assert network.switch is not None  # `build` has checked it
        return replace(
            self, network=replace(network, switch=replace(network.switch, **{key: value}))
        )


@dataclass(frozen=True)
class SwitchScenario:
    """One question about a switch or a network, with everything that its answer depends on.

    Attributes
    ----------
    name, path, title, question, source
        For people.
    setting
        The tables before anything is varied.
    vary
        Tables of varied keys: the values of one table go together, the tables are crossed.
    compare
        Theories and baselines to put beside: ``mean-field``, ``zero-load``, ``butterfly``.
    record
        What to keep slot by slot, None for nothing.
    """

    name: str
    path: str = field(compare=False)
    title: str
    question: str
    source: str
    setting: Setting
    vary: tuple[Mapping[str, tuple[Any, ...]], ...] = ()
    compare: tuple[str, ...] = ()
    record: Record | None = None

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

    def fixed(self, key: str, value: Any) -> SwitchScenario:  # noqa: ANN401 - any value of a table
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
        return replace(self, setting=setting, vary=tuple(vary))


def plain(value: Any) -> int | float | str | None:  # noqa: ANN401 - any value of a table
    """Return a value of a table as one number or one text, as a column can hold it.

    Examples
    --------
    >>> plain(0.5), plain((0, 2)), plain(Hot(0.1, (3, 4)))
    (0.5, '0 2', '0.1 3 4')
    """
    if value is None or isinstance(value, int | float | str):
        return value
    parts = vars(value).values() if isinstance(value, Hot) else value
    return " ".join(str(plain(part)) for part in parts)


def point_text(point: Point) -> str:
    """Return a point for people.

    Examples
    --------
    >>> point_text({"height": 16, "load": 0.30})
    'height 16, load 0.3'
    """
    return ", ".join(f"{key} {_short(plain(value))}" for key, value in point.items())


def _short(value: float | str | None) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _names(table: type) -> set[str]:
    return {item.name for item in fields(table)}
