"""How many messages of a scenario an emulated run sends, and in which batches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dvsim.contract.kind import Own
from dvsim.kinds.rabbitmq.spec import Scenario

if TYPE_CHECKING:
    from dvsim.emulation.settings import Emulation

MESSAGES = 200_000  # of an iteration, unless a scale is given: about ten seconds of sending
BYTES = 256_000_000  # of an iteration, likewise: the queues of both receivers hold them all
BATCHES = 20  # of an iteration at least: the rate of a batch is a sample


def own_scale(scenario: Scenario) -> float:
    """Return the scale that makes an iteration short: at most `MESSAGES`, and `BYTES` of them."""
    work = scenario.workload
    return min(1.0, MESSAGES / work.messages, BYTES / (work.messages * work.message_bytes))


def fitted(scenario: Scenario) -> Scenario:
    """Return the scenario with batches small enough that an iteration has `BATCHES` of them."""
    probe, messages = scenario.probe, scenario.workload.messages
    if probe.batch is None or messages >= BATCHES * probe.batch:
        return scenario
    return replace(scenario, probe=replace(probe, batch=max(1, messages // BATCHES)))


def size_facts(scenario: Scenario, whole: Own) -> dict[str, Any]:
    """Return how much of a scenario is sent, as JSON types; `whole` is it before it was scaled."""
    facts: dict[str, Any] = {
        "scale": scenario.workload.messages / whole.workload.messages,
        "messages_asked": whole.workload.messages,
    }
    if scenario.probe.batch is not None:
        facts["batch_asked"] = whole.probe.batch
    return facts


def size_text(scenario: Scenario, whole: Own, emulation: Emulation) -> str:
    """Say how much of a scenario is sent, and what is promised for it."""
    work, batch = scenario.workload, scenario.probe.batch
    share = work.messages / whole.workload.messages
    text = f"{scenario.name}: {work.messages:,} messages of {work.message_bytes:,} B"
    text += f" in each of {work.iterations} iterations" if work.iterations > 1 else ""
    if share != 1:
        text += f", {share:.3g} of {whole.workload.messages:,} by the scale"
    if batch != whole.probe.batch:
        text += f", in batches of {batch:,} instead of {whole.probe.batch:,}"
    return f"{text}; {emulation.promise}"
