"""The kind "irregular": what dvsim asks about irregular programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from dvsim.contract.kind import Keys, Order, Own, Plain
from dvsim.errors import Fault
from dvsim.kinds.irregular.spec import (
    LEAST_BUFFER,
    MOST_BUFFER,
    MOST_NODES,
    MOST_UNEVEN,
    IrregularScenario,
    WordsSystem,
)
from dvsim.kinds.points import PointsKind
from dvsim.scenario.document import Document, KeyPath
from dvsim.scenario.spec import Spec
from dvsim.study.table import Table
from dvsim.table.metrics import Metric, unsigned

LINKS = ("words", "vortex")


class IrregularKind(PointsKind):
    """What is different about irregular programs."""

    name = "irregular"
    about = "of programs that send many small messages"
    Spec: ClassVar[type[Spec]] = IrregularScenario
    registry: ClassVar[Mapping[str, Metric]] = unsigned(
        {
            "time": Metric("s", shown=True),
            "per_word": Metric("ns", shown=True),
            "rate": Metric("M/s", shown=True),
            "cores": Metric("s"),
            "network": Metric("s"),
            "waits": Metric("s"),
        }
    )
    orders: ClassVar[Keys] = {
        "nodes": Order("whole", 1, MOST_NODES, (1, MOST_NODES)),
        "uneven": Order("scaled", 1, MOST_UNEVEN, (1, 10)),
        "window": Order("whole", 1, 10**6, (1, 10**4)),
        "buffer": Order("whole", LEAST_BUFFER, MOST_BUFFER, (LEAST_BUFFER, 2**20)),
    }

    def roles(self, data: Mapping[str, Any]) -> Mapping[str, str | None]:
        """Return the cards: what connects the nodes is of one of two kinds."""
        return {"link": None, "host": "node"}

    def between(self, document: Document, *, partial: bool) -> Iterator[Fault]:
        """Ask for both cards."""
        return self.missing(document, () if partial else ("link", "host"))

    def refused(self, scenario: IrregularScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield a card that connects no nodes, and a node for which more elements are than all."""
        work = scenario.workload
        if work.uneven > work.nodes:
            message = f"{work.uneven:g} is more than the {work.nodes} nodes together get on average"
            yield ("workload", "uneven"), message
        link = _cards(scenario.system)[1]
        if link.kind not in LINKS:
            message = f"is '{link.name}', of kind '{link.kind}'; it takes {' or '.join(LINKS)}"
            yield ("system", "link"), message

    def replicate(self, scenario: IrregularScenario, seed: int, replication: int) -> Plain:
        """Return the time of a point; nothing in it is random."""
        from dvsim.kinds.irregular.link import over_link
        from dvsim.kinds.irregular.vortex import over_vortex

        host, link = _cards(scenario.system)
        work = scenario.workload
        over = over_vortex if link.kind == "vortex" else over_link
        took = over(work, host, link)
        metrics = {
            "time": took.whole,
            "per_word": took.whole / work.words * 1e9,
            "rate": work.words * work.nodes / took.whole / 1e6 if took.whole else float("inf"),
            "cores": took.cores,
            "network": took.network,
            "waits": took.waits,
        }
        return Plain(metrics, "flow")

    def lines(self, result: Own) -> Iterator[Any]:
        """Yield the table of points; of those over a Data Vortex with what they depend on."""
        from dvsim.kinds.irregular.sensitivity import with_sensitivity

        for line in super().lines(result):
            yield from with_sensitivity(result, line) if isinstance(line, Table) else (line,)

    def seconds(self, scenario: IrregularScenario) -> float:
        """Return that a point takes no time."""
        return 1e-4


def _cards(system: WordsSystem) -> tuple[Any, Any]:
    return system.host, system.link


KIND = IrregularKind()
