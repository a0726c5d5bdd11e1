"""Several machines for an emulated run: their cards and brokers, and the command to reach them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from dvsim.errors import Argument, Fault, ScenarioError

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
