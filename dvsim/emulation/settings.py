"""How an emulated run is asked for: brokers, promises, how many messages; and what cannot be."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from dvsim.contract.find import kind_of
from dvsim.contract.kind import Own
from dvsim.emulation.own_bridge import OwnBridge
from dvsim.errors import Advice, Argument, Fault, ScenarioError

if TYPE_CHECKING:
    from dvsim.scenario.spec import Spec


LAUNCH_WITH = "ssh -o BatchMode=yes -o ConnectTimeout=6 {host}"
_NAME = r"[A-Za-z0-9._@\[\]%][A-Za-z0-9._@\[\]:%-]*?"
_SHARE = re.compile(rf"({_NAME}):([0-9]{{1,5}})")
_HOST = re.compile(rf"{_NAME}$")


@dataclass(frozen=True)
class Hosts:
    """The machines on which the programs of a run are."""

    # Each host with its number of cards, which are numbered through: first those of the senders,
    # then those of the bridges.
    cards: tuple[tuple[str, int], ...]
    # The n-th private cluster is on the n-th of these; after the last comes the first again.
    # Empty: clusters are on the hosts of the bridges.
    brokers: tuple[str, ...] = ()
    launch_with: str = LAUNCH_WITH  # what runs a command on ``{host}``
    # The hosts listen on its address. None: on the one that the name of a host stands for there.
    interface: str | None = None

    @classmethod
    def of(
        cls,
        hosts: str,
        broker_hosts: str | None = None,
        launch_with: str | None = None,
        interface: str | None = None,
    ) -> Hosts:
        """Return the hosts that texts such as ``a:2,b:2`` describe."""
        faults: list[Fault] = []
        shares = tuple(_shares(hosts, faults))
        named = tuple(_names(broker_hosts, faults)) if broker_hosts is not None else ()
        command = LAUNCH_WITH if launch_with is None else launch_with
        if "{host}" not in command:
            faults.append(Argument("launch_with").fault(f"'{command}' says nowhere {{host}}"))
        if faults:
            raise ScenarioError(faults)
        return cls(shares, named, command, interface)

    @property
    def text(self) -> str:
        """The hosts and their cards, as in ``a:2,b:2``."""
        return ",".join(f"{name}:{count}" for name, count in self.cards)

    @property
    def receivers(self) -> int:
        """How many receivers have cards: each needs one to send and one for its bridge."""
        return sum(count for _, count in self.cards) // 2

    def of_card(self, card: int) -> str:
        """Return the host of a card."""
        return [name for name, count in self.cards for _ in range(count)][card]

    def of_cluster(self, cluster: int, receivers: int) -> str:
        """Return the host of a private cluster, 0 …."""
        if self.brokers:
            return self.brokers[cluster % len(self.brokers)]
        return self.of_card(receivers + cluster % receivers)

    def faults(self, name: str, receivers: int, clusters: int) -> Iterator[Fault]:
        """Yield the faults for a run of a scenario.

        Args:
            name: Of the scenario.
            receivers: That have cards; 0 if it sends over TCP.
            clusters: Private ones; 0 if the brokers are the user's.
        """
        if not receivers:
            message = f"{name} sends over TCP, without cards that could be on hosts"
            yield Argument("hosts").fault(message)
            return
        cards = sum(count for _, count in self.cards)
        if cards != 2 * receivers:
            senders = f"{receivers} senders and {receivers} bridges"
            message = f"the hosts have {cards} cards; {senders} need {2 * receivers}"
            yield Argument("hosts").fault(message)
        argument = Argument("broker_hosts")
        if self.brokers and not clusters:
            yield argument.fault("is for private brokers, and the URLs name others")
        elif len(self.brokers) > clusters > 0:
            message = f"{len(self.brokers)} hosts for {clusters} clusters: some would have none"
            yield argument.fault(message)

    def command(self, name: str, *words: str) -> list[str]:
        """Return the command that runs words on a host, quoted for ssh, which has a shell there."""
        launch = [word.replace("{host}", name) for word in self.launch_with.split()]
        quote = PurePath(launch[0]).name == "ssh"
        return [*launch, *(map(shlex.quote, words) if quote else words)]


def _shares(text: str, faults: list[Fault]) -> Iterator[tuple[str, int]]:
    seen = set()
    for part in text.split(","):
        match = _SHARE.fullmatch(part)
        if match is None or int(match[2]) == 0:
            message = f"'{part}' is not a host and its number of cards, such as a:2"
            faults.append(Argument("hosts").fault(message))
        elif match[1] in seen:
            message = f"host {match[1]} stands there twice: say how many cards it has in all"
            faults.append(Argument("hosts").fault(message))
        else:
            seen.add(match[1])
            yield match[1], int(match[2])


def _names(text: str, faults: list[Fault]) -> Iterator[str]:
    for name in text.split(","):
        if _HOST.fullmatch(name):
            yield name
        else:
            faults.append(Argument("broker_hosts").fault(f"'{name}' is not the name of a host"))


CLUSTERS, NODES = 2, 3  # as in the paper
FEW_NODES_BELOW = 6 << 30  # bytes of memory of the machine: six idle nodes take 0.8 GiB


class Traces(NamedTuple):
    """Where the programs of the first iteration write what they did: a folder, and bytes of it."""

    folder: Path
    limit: int


@dataclass(frozen=True)
class Emulation:
    """Where the messages go, and what is promised for them."""

    # Private RabbitMQ clusters, and nodes in each; `nodes` None takes the paper's three, or one on
    # a machine with little memory. Receiver n has its queue on the first node of cluster n.
    clusters: int = CLUSTERS
    nodes: int | None = None
    # Brokers of the user's instead: ``amqp://HOST[:PORT][/VHOST]``; receiver n takes the n-th.
    urls: tuple[str, ...] = ()
    # File with ``user:password`` for `urls`; without one the environment counts, see
    # `dvsim.emulation.credentials`.
    credentials: Path | None = None
    # Publisher confirms; without them, as in the paper's test, nobody tells the senders.
    at_least_once: bool = False
    # Other machines, on which its programs and private brokers are; None for this one.
    hosts: Hosts | None = None
    # What takes vicbridge's place; None for that.
    bridge: OwnBridge | None = None
    # Where to leave traces, if they are wanted. They cost the programs a little time, and make it
    # another question.
    traces: Traces | None = field(default=None, compare=False)

    @property
    def private(self) -> int:
        """How many private clusters there are: none beside brokers of the user's."""
        return 0 if self.urls else self.clusters

    @property
    def promise(self) -> str:
        """What is promised, in the words of the options."""
        return "at least once" if self.at_least_once else "at most once"

    def resolved(self) -> Emulation:
        """Return it with the number of nodes that this machine gets."""
        if self.urls or self.nodes is not None:
            return self
        from dvsim.broker.install import machine_bytes

        return replace(self, nodes=NODES if machine_bytes() >= FEW_NODES_BELOW else 1)

    def question(self) -> dict[str, Any]:
        """Return what the answer depends on, as JSON types; the credentials are no part of it."""
        where: dict[str, Any] = (
            {"urls": list(self.urls)}
            if self.urls
            else {"clusters": self.clusters, "nodes": self.resolved().nodes}
        )
        if self.hosts is not None:
            where |= {"hosts": self.hosts.text}
            where |= {"broker_hosts": list(self.hosts.brokers)} if self.hosts.brokers else {}
        traced = {} if self.traces is None else {"traced": True}
        bridge = {} if self.bridge is None else {"bridge": self.bridge.question()}
        return {**where, "promise": self.promise, **traced, **bridge}

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong with it, by argument."""
        from dvsim.broker.install import check_shape

        try:
            check_shape(self.clusters, 1 if self.nodes is None else self.nodes)
        except ScenarioError as error:
            yield from (replace(fault, file=Argument(fault.file)) for fault in error.faults)
        if self.credentials is not None and not self.urls:
            message = "is for brokers of a URL; private ones have their own"
            yield Argument("credentials").fault(message)
        if self.hosts is not None:
            several = {"trace": self.traces, "bridge": self.bridge}
            for name in (name for name, given in several.items() if given is not None):
                yield Argument(name).fault("is not built for a run over several hosts")
        if self.bridge is not None:
            yield from self.bridge.faults()
        for url in self.urls:
            yield from _url_faults(url)


def _url_faults(url: str) -> Iterator[Fault]:
    argument = Argument("urls")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        yield argument.fault(f"{redacted(url)}: {error}")
        return
    if parts.username is not None or parts.password is not None:
        wrong = f"{redacted(url)}: a name or password must not stand in a URL; write a file for "
        yield argument.fault(Advice(wrong, Argument("credentials")))
    elif parts.scheme != "amqp":
        hint = "amqp" if parts.scheme in ("amqps", "http", "rabbitmq", "amq", "") else None
        yield argument.fault(f"{url}: '{parts.scheme}' is not amqp", hint)
    elif not parts.hostname or port == 0 or parts.query or parts.fragment:
        yield argument.fault(f"{url} is not of the form amqp://HOST[:PORT][/VHOST]")


def redacted(url: str) -> str:
    """Return a URL without what stands before its host."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://…@{rest.rpartition('@')[2]}" if "@" in rest else url


def _idle(scenarios: Iterable[Own], emulation: Emulation) -> Iterator[Fault]:
    receivers_of_each = (kind_of(scenario).served(scenario) for scenario in scenarios)
    receivers = [receiver for receiver in receivers_of_each if receiver is not None]
    argument = Argument("urls" if emulation.urls else "clusters")
    brokers = len(emulation.urls) or emulation.clusters
    if receivers and brokers > max(receivers):
        message = f"{brokers} brokers for {max(receivers)} receivers: some would have no queue"
        yield argument.fault(message)


def check_emulation(
    scenarios: list[Spec], emulation: Emulation, others: Mapping[str, object]
) -> None:
    """Refuse what backend emu cannot do, everything at once.

    Args:
        scenarios: What shall be run.
        emulation: How.
        others: Options that only backend sim has, by name; None where they are not given.
    """
    faults = [f for scenario in scenarios for f in kind_of(scenario).unsuited(scenario, emulation)]
    faults += emulation.faults()
    faults += _idle(scenarios, emulation)
    for argument, value in others.items():
        if value is not None:
            message = "is for backend sim; an emulated run has its own processes"
            faults.append(Argument(argument).fault(message))
    if faults:
        raise ScenarioError(list(dict.fromkeys(faults)))
