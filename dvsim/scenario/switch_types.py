"""A scenario of a switch or a network alone, as the rest of dvsim sees it: frozen and resolved.

Its tables hold the arguments of `dvsim.Switch` or `dvsim.Network` and of their ``run``. Keys of
`SwitchScenario.vary` take several values; each combination is a *point*, and `SwitchScenario.at`
gives the tables of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dvsim.scenario.varied import Point, Varied, names_of, plain, point_text

__all__ = [
    "MOST_RECORDED",
    "Hot",
    "NetworkTable",
    "Point",
    "Record",
    "Setting",
    "SwitchScenario",
    "SwitchTable",
    "TrafficTable",
    "plain",
    "point_text",
]

MOST_RECORDED = 200  # packets, and slots, that a report can show moving


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
        return any(key in names_of(type(table)) for table in tables)

    def get(self, key: str) -> Any:  # noqa: ANN401 - any value of a table
        """Return the value of a key, by its short name; None where there is no such table."""
        switch = self.switch if self.network is None else self.network.switch
        for table in (self.traffic, self.network, switch):
            if table is not None and key in names_of(type(table)):
                return getattr(table, key)
        return None

    def put(self, key: str, value: Any) -> Setting:  # noqa: ANN401 - any value of a table
        """Return the setting with another value of a key, by the short name that `vary` uses."""
        if key in names_of(TrafficTable):
            return replace(self, traffic=replace(self.traffic, **{key: value}))
        if self.switch is not None:
            return replace(self, switch=replace(self.switch, **{key: value}))
        network = self.network
        assert network is not None  # one of the two is there
        if key in names_of(NetworkTable):
            return replace(self, network=replace(network, **{key: value}))
        assert network.switch is not None  # `build` has checked it
        return replace(
            self, network=replace(network, switch=replace(network.switch, **{key: value}))
        )


@dataclass(frozen=True)
class SwitchScenario(Varied[Setting]):
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
