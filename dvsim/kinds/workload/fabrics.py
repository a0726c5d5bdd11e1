"""Which fabrics there are, by name: LogGOPS of a card, or Data Vortex networks; their settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal

from dvsim.core.cycle import CycleCore
from dvsim.core.faulty import Faulty
from dvsim.core.ports import Level, Ports
from dvsim.core.replay import Costs, Fabric
from dvsim.errors import Argument, ScenarioError, nearest
from dvsim.fabric.network import Network
from dvsim.fabric.network.offer import check_offer, params_of
from dvsim.fabric.network.tree import PRESETS
from dvsim.fabric.switch.traffic import Traffic
from dvsim.kinds.workload.faults import Faults, faults_of
from dvsim.scenario.card import load_card
from dvsim.scenario.find import card_names
from dvsim.scenario.quantity import UnitError, read, whole
from dvsim.scenario.types import Card
from dvsim.scenario.units import Law

CARDS = {"loggops": "loggops", "fdr": "fdr-verbs", "aries": "aries-ugni"}
"""Short names of cards of kind loggops; any other card of that kind goes by its own."""

SMALLEST = "dv"
VORTEX_CARD = "data-vortex-8"
WORD_BYTES = 8
MOST_EAGER = (1 << 63) - 1
MOST_SLOWER = 1000
FIDELITIES = ("flow", "cycle")
LANDINGS = ("memory", "sram")
ONLY_FLOW = ("L", "rate")
"""Settings that fidelity flow alone has."""

Model = Literal["loggops", "flow", "cycle"]


@dataclass(frozen=True)
class Chosen:
    """A fabric with all its numbers, ready to carry."""

    name: str  # as it was asked for
    # ``loggops``, ``flow`` or ``cycle``: every word through cards and network, slot by slot.
    model: Model
    costs: Costs  # at the hosts; for loggops of the way, too
    card: Card  # the numbers are of it
    network: Network | None = None  # of a Data Vortex
    # Of a port at fidelity flow, in bytes a second; None for a word per slot and plane.
    rate: float | None = None
    # What cards and PCIe add to any message there; None for what the card says.
    extra_ps: int | None = None
    # How many times longer DMA takes; where messages end.
    slower: float = 1.0
    in_sram: bool = False
    changed: tuple[str, ...] = ()  # settings that are not the card's, as text
    fitted: str = ""  # to what the numbers were fitted; empty if they were not
    faults: Faults = field(default_factory=Faults)  # what is wrong in it

    @property
    def ports(self) -> int | None:
        """How many ranks there is room for; None for any number."""
        return None if self.network is None else self.network.ports

    @property
    def title(self) -> str:
        """For people, in a few words."""
        if self.network is None:
            return f"LogGOPS, card {self.card.name}"
        faults = ", with faults" if self.faults.told else ""
        return f"Data Vortex of {self.network.ports} ports, {self.model} fidelity{faults}"

    def made(self, seed: int = 1) -> Fabric | None:
        """Return what carries messages; None for LogGOPS, whose costs say all.

        `seed` is that of words that faulty ports lose.
        """
        if self.network is None:
            return None
        sound, faults, ports = self._sound(self.network), self.faults, self.network.ports
        if not faults.wrap:
            return sound
        return Faulty(sound, ports, faults.dead, faults.chance, faults.again_ps, seed)

    def _sound(self, network: Network) -> Fabric:
        faults = self.faults
        if self.model == "cycle":
            return cycle_of(network, self.card, self.slower, faults, in_sram=self.in_sram)
        return Ports(
            network.ports,
            network.planes,
            network.slot_ps,
            self.ways(),
            self.card,
            word_fs=0 if self.rate is None else round(WORD_BYTES * 1e15 / self.rate),
            extra_ps=self.extra_ps,
            slower=self.slower,
            in_sram=self.in_sram,
            slow=faults.slow,
            cuts=faults.cuts,
        )

    def ways(self) -> list[Level]:
        """Return the ways of each level through an empty network.

        Over level k a word passes 2 k + 1 switches and 2 k + 2 links. In each switch it visits a
        node of each cylinder, and one more for each crossing (`dvsim.fabric.switch.meanfield`).
        Where it turns, its two ports say how many. On the way up and down they say one, as ports
        are the lower half of a switch and links up the other, and a random link decides of each
        other bit.
        """
        assert self.network is not None  # of a Data Vortex
        network, tree = self.network, self.network.tree
        bits, levels = network.switch.cylinders - 1, []
        for level in range(network.levels):
            top = level == network.levels - 1
            parallel = tree.parallel.bit_length() - 1 if top and level else 0
            turning = bits - parallel if top else bits - 1
            draws = 2 * level * (bits - 1) + parallel
            slots = (2 * level + 1) * (bits + 1) + 2 * level + draws / 2 + 1
            slots += (2 * level + 2) * network.link
            below = tree.reach(level - 1) if level else 1
            way_ps = round(slots * network.slot_ps)
            levels.append(Level(tree.reach(level), below, turning, way_ps, draws))
        return levels


def cycle_of(
    network: Network,
    card: Card,
    slower: float = 1.0,
    faults: Faults | None = None,
    *,
    in_sram: bool = False,
) -> CycleCore:
    """Return cards and a network that carry every word; DMA takes `slower` times as long.

    Messages stay in SRAM with `in_sram`; else they go on into the memory of the host.
    """
    offer = check_offer(network, Traffic(injection="given"))
    wrong = faults or Faults()
    params = params_of(network, offer)
    core = CycleCore(
        params, network.slot_ps, card, slower, wrong.slow, wrong.cuts, wrong.links, in_sram
    )
    _check_ways(core, network.ports, network.tree.down, wrong)
    return core


def _check_ways(core: CycleCore, ports: int, down: int, faults: Faults) -> None:
    """Refuse dead cables between switches that leave two ports without a plane.

    Fewer than a leaf has up cannot; ports of a leaf are alike but for their own cables.
    """
    if len(faults.links) < down:
        return
    some = {*range(0, ports, down), *(port for port, _ in faults.cuts)} - faults.dead
    for own, other in combinations(sorted(some), 2):
        if not core.ways(own, other):
            message = f"ports {own} and {other} share no plane"
            raise ScenarioError.at(Argument("faults"), message, " and ".join(faults.told))


def _time(text: object) -> int:
    return whole(read(text, "time"), text, "time")


def _slope(text: object) -> int:
    written = str(text)
    value = read(written if "/" in written else f"{written}/B", "slope")
    return whole(value, text, "slope")


def _size(text: object) -> int:
    written = str(text)
    if written.isdigit():
        return min(int(written), MOST_EAGER)
    return whole(read(text, "size"), text, "size")


def _rate(text: object) -> float:
    value = float(read(text, "rate"))
    if value < 1:
        raise UnitError(f"must be at least 1 B/s, is {text}")
    return value


def _factor(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = 0.0
    if not 1 <= number <= MOST_SLOWER:
        raise UnitError(f"must be a number from 1 to {MOST_SLOWER}, is {value}")
    return number


def _whole(value: object) -> int:
    if not str(value).isdigit():
        raise UnitError(f"must be a whole number, is {value}")
    return int(str(value))


def _one_of(names: Sequence[str], value: object) -> str:
    if str(value) not in names:
        raise UnitError(f"must be {' or '.join(names)}, not '{value}'", nearest(str(value), names))
    return str(value)


LOGGOPS: Mapping[str, tuple[str, Callable[[object], int]]] = {
    "L": ("latency_ps", _time),
    "o": ("overhead_ps", _time),
    "g": ("gap_ps", _time),
    "G": ("gap_byte_fs", _slope),
    "O": ("overhead_byte_fs", _slope),
    "S": ("eager_bytes", _size),
}
"""Settings of LogGOPS: the field of `Costs` of each, and how it is read."""

VORTEX: Mapping[str, Callable[[object], Any]] = {
    **{key: LOGGOPS[key][1] for key in "oOSL"},
    "rate": _rate,
    "planes": _whole,
    "link": _whole,
    "fidelity": partial(_one_of, FIDELITIES),
    "dma_slow": _factor,
    "landing": partial(_one_of, LANDINGS),
}
"""Settings of a Data Vortex, and how each is read. Of fidelity flow alone: `rate`, of a port, and
`L`, what card and PCIe add to any message, instead of PIO, DMA and looks. `dma_slow`: how often
as long DMA takes, a fault of cards; `landing`: where messages end, in the memory of the host or
in SRAM of the card."""


def names() -> list[str]:
    """Return all names of fabrics."""
    return [*CARDS, SMALLEST, *PRESETS]


def settings_of(name: str) -> tuple[str, ...]:
    """Return the settings that a fabric knows."""
    return tuple(VORTEX if name in PRESETS or name == SMALLEST else LOGGOPS)


def choose(
    name: str, settings: Mapping[str, object], ranks: int = 1, faults: Sequence[str] = ()
) -> Chosen:
    """Return a fabric with its numbers; settings that are of other fabrics only do not count.

    Args:
        name: ``loggops``, ``fdr``, ``aries``, ``dv202`` to ``dv216``, ``dv`` for the smallest of
            these with a port for each rank, or the name or file of a card.
        settings: Text by key, instead of what the card says.
        ranks: That the fabric shall carry.
        faults: What is wrong in a Data Vortex, see `dvsim.kinds.workload.faults`.
    """
    if name == SMALLEST:
        name = next((preset for preset, ports in PRESETS.items() if ports >= ranks), "dv216")
    if name in PRESETS:
        chosen = _vortex(name, settings)
        assert chosen.network is not None  # of a Data Vortex
        checked = faults_of(faults, chosen.network.planes, chosen.network.tree)
        if checked.links and chosen.model == "flow":
            message = "cables between switches count at fidelity=cycle only"
            raise ScenarioError.at(Argument("faults"), message, " and ".join(checked.told))
        if checked.slow and chosen.extra_ps is not None:
            message = "a slow port is one of PIO and DMA, which L replaces"
            raise ScenarioError.at(Argument("faults"), message, " and ".join(checked.told))
        return replace(chosen, faults=checked)
    if name not in CARDS and not name.endswith(".toml") and name not in card_names():
        message = f"no such fabric; there are {', '.join(CARDS)}, dv, dv202 to dv216, or a card"
        raise ScenarioError.at(name, message, "fabric", hint=nearest(name, names()))
    return _loggops(name, settings)


def _loggops(name: str, settings: Mapping[str, object]) -> Chosen:
    card = load_card(CARDS.get(name, name))
    if card.kind != "loggops":
        message = f"card '{card.name}' is of kind '{card.kind}'; a fabric needs one of 'loggops'"
        raise ScenarioError.at(name, message, "fabric")
    overhead, gap = card["overhead"], card["gap"]
    assert isinstance(overhead, Law)  # the kind says so
    costs = Costs(card["latency"], overhead.fixed_ps, gap.fixed_ps, gap.per_byte_fs,
                  overhead.per_byte_fs, card["eager"])  # fmt: skip
    chosen = Chosen(name, "loggops", costs, card)
    given = {key: settings[key] for key in LOGGOPS if key in settings}
    return _with_costs(chosen, given)


def _with_costs(chosen: Chosen, given: Mapping[str, object]) -> Chosen:
    costs = chosen.costs
    for key, value in given.items():
        field, reader = LOGGOPS[key]
        costs = costs._replace(**{field: read_setting(key, value, reader)})
    changed = tuple(f"{key}={value}" for key, value in given.items())
    return replace(chosen, costs=costs, changed=chosen.changed + changed)


def read_setting(key: str, value: object, reader: Callable[[object], Any]) -> Any:  # noqa: ANN401
    """Return the value of a setting, read."""
    try:
        return reader(value)
    except UnitError as error:
        raise ScenarioError.at(Argument("overrides"), error.message, key, hint=error.hint) from None


def _vortex(name: str, settings: Mapping[str, object]) -> Chosen:
    fidelity = settings.get("fidelity", FIDELITIES[0])
    model: Model = read_setting("fidelity", fidelity, VORTEX["fidelity"])
    for key in ONLY_FLOW:
        if key in settings and model != "flow":
            message = f"is of fidelity 'flow'; this is '{model}'"
            raise ScenarioError.at(Argument("overrides"), message, key)
    text = {key: settings[key] for key in VORTEX if key in settings}
    given = {key: read_setting(key, value, VORTEX[key]) for key, value in text.items()}
    card = load_card(VORTEX_CARD)
    try:
        network = Network(name, **{key: given[key] for key in ("planes", "link") if key in given})
    except ValueError as error:
        raise ScenarioError.at(Argument("overrides"), str(error)) from None
    costs = Costs(0, card["pio_write"], 0, 0, 0, load_card("loggops")["eager"])
    shown = ("L", "rate", "dma_slow", "landing", "planes", "link")
    changed = tuple(f"{key}={text[key]}" for key in shown if key in text)
    slower, in_sram = given.get("dma_slow", 1.0), given.get("landing") == "sram"
    chosen = Chosen(name, model, costs, card, network, given.get("rate"), given.get("L"), slower,
                    in_sram, changed=changed)  # fmt: skip
    return _with_costs(chosen, {key: text[key] for key in "oOS" if key in text})
