"""A scenario as the rest of dvsim sees it: frozen, resolved, without any unit text left to read.

Times are integer picoseconds, sizes integer bytes, rates bytes per second. Where a value was
written (`origin`, `path`, `text`) is carried along for people and takes no part in equality: two
scenarios are equal when they ask for the same run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dvsim.scenario.units import Dimension, Law

CONFIDENCES = ("published", "calibrated", "measured-here", "unverified", "assumed")
"""What a card may say of a value, from the firmest to the weakest."""


@dataclass(frozen=True)
class Parameter:
    """One number of a card, with what is known about it.

    Parameters
    ----------
    name
        Such as ``sram``.
    value
        Bytes, picoseconds, bytes/s, a plain number or a `Law`, as `dimension` says.
    dimension
        One of `dvsim.scenario.units.DIMENSIONS`.
    text
        The value as it was written.
    confidence
        One of `CONFIDENCES`.
    source
        Where the number comes from.
    fitted
        What the value was fitted to; given exactly when it is calibrated.
    origin
        ``data-vortex-8.toml:7`` or ``--set``.
    """

    name: str
    value: int | float | Law
    dimension: Dimension
    text: str = field(compare=False)
    confidence: str
    source: str
    fitted: str | None
    origin: str = field(compare=False)


@dataclass(frozen=True)
class Card:
    """The parameters of one component; ``card["sram"]`` is the value itself.

    Parameters
    ----------
    name, title, notes
        For people.
    kind
        One of `dvsim.scenario.kinds.KINDS`.
    parameters
        By name, in the order of the kind.
    """

    name: str
    kind: str
    title: str
    notes: str
    parameters: Mapping[str, Parameter]

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - int, float or Law by dimension
        """Return the value of a parameter in base units."""
        return self.parameters[name].value


@dataclass(frozen=True)
class Workload:
    """What is sent: `messages` of `message_bytes` in each of `iterations`, over all receivers.

    `messages_per_second` is the offered load of an open loop, None in a closed one.
    """

    message_bytes: int
    messages: int
    iterations: int
    messages_per_second: float | None = None


@dataclass(frozen=True)
class System:
    """What carries it: `transport` is ``data-vortex`` or ``tcp``, `receivers` own a queue each.

    `fidelity` of the fabric is ``cycle``, ``flow`` or ``auto``; None over ``tcp``. `senders` share
    the receivers out among them, one each if None; `order` is ``fabric`` where its ports deliver
    in order, None where receivers reassemble.
    """

    transport: str
    receivers: int
    card: Card
    broker: Card
    bridge: Card | None
    publisher: Card | None
    fidelity: str | None = None
    senders: int | None = None
    order: str | None = None

    @property
    def cards(self) -> dict[str, Card]:
        """The cards in use, by role."""
        roles = {
            "card": self.card,
            "bridge": self.bridge,
            "publisher": self.publisher,
            "broker": self.broker,
        }
        return {role: card for role, card in roles.items() if card is not None}


@dataclass(frozen=True)
class Column:
    """A record: one receiver (0 = the whole system), its iterations one after the other."""

    label: str
    receiver: int
    iterations: tuple[int, ...]


@dataclass(frozen=True)
class Probe:
    """How the run is sampled: every `interval_ps`, or every `batch` messages."""

    kind: str
    interval_ps: int | None
    batch: int | None
    columns: Mapping[str, Column]


@dataclass(frozen=True)
class Reference:
    """Published data of the same question; `fitted` columns were used to choose parameters."""

    file: str
    transport: str
    fitted: tuple[str, ...]


@dataclass(frozen=True)
class Tolerance:
    """How far a result may lie from the reference; declared before any comparison.

    Parameters
    ----------
    mean, quantile, std, extreme
        Relative: ``abs(log(simulated / published)) <= log(1 + tolerance)``.
    empty_share
        Absolute distance to the range that the published quantiles allow.
    """

    mean: float = 0.15
    empty_share: float = 0.05
    quantile: float = 0.30
    std: float = 0.30
    extreme: float = 0.50


@dataclass(frozen=True)
class WhatIf:
    """What a scenario is in an open question that several of them answer together.

    Parameters
    ----------
    name, title, question
        Of the question; scenarios with one name belong together.
    member
        The scenario that is varied, such as ``h3/dv-8192``.
    says
        What is different in this one, in words; of the baseline, what it is.
    place
        0 of the baseline, then in the order of the file.
    rate
        ``all`` if messages of all receivers count together, ``each`` if of one of them.
    also
        What the answer tells besides the rate, see `dvsim.results.measures`.
    assumed
        What the answer rests on, in sentences.
    """

    name: str
    title: str
    question: str
    member: str
    says: str
    place: int
    rate: str
    also: tuple[str, ...]
    assumed: tuple[str, ...]


@dataclass(frozen=True)
class Scenario:
    """One question with everything that its answer depends on."""

    name: str
    path: str = field(compare=False)
    title: str
    question: str
    source: str
    loop: str
    workload: Workload
    system: System
    probe: Probe
    reference: Reference | None
    tolerance: Tolerance
    whatif: WhatIf | None = None
