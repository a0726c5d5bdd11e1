"""The sentences of 60East's comparison of AMPS and RabbitMQ queues, decided by runs of ``amps/``.

Its figures are pictures: the text gives ratios, over message sizes that it does not name. A ratio
of every size is decided by the one that lies worst in the claimed range.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from dvsim.evidence.claims import Evidence, Finding, Missing, Source, four_digits
from dvsim.kinds.hosts.spec import MessagingScenario

SOURCE = Source(__file__, "60East Technologies 2016, AMPS and RabbitMQ", order=4)

QUEUES, ACKS = "amps/queues", "amps/acknowledgements"
HDD, SSD = "hdd-7200", "nvme-p3700"
OURS, THEIRS = "amps-5", "rabbitmq-3.6"
US_PER_MS = 1000.0


def worst(id_: str, values: Iterable[float]) -> float:
    """Return the value that lies farthest out in the range of a claim, by its logarithm."""
    claim = SOURCE.claims[id_]
    if claim.low is None or claim.high is None:
        raise Missing(f"no range of {id_}")
    low, high = claim.low, claim.high
    return min(values, key=lambda value: min(math.log(value / low), math.log(high / value)))


def _sizes(evidence: Evidence) -> list[int]:
    return sorted({int(setting.get("message_bytes")) for setting in evidence.settings(QUEUES)})


def _rate(evidence: Evidence, metric: str, broker: str, storage: str, size: int) -> float:
    keys = {"broker": broker, "storage": storage, "message_bytes": size}
    return evidence.point(QUEUES, metric, **keys).value


def _ratios(evidence: Evidence, metric: str, storage: str) -> dict[int, float]:
    """Return by size how many times faster AMPS is."""
    return {
        size: _rate(evidence, metric, OURS, storage, size)
        / _rate(evidence, metric, THEIRS, storage, size)
        for size in _sizes(evidence)
    }


def _by_size(values: dict[int, float]) -> str:
    return ", ".join(f"{size} B {four_digits(value)}" for size, value in values.items())


@SOURCE.claim("AMPS-1", "On the disk AMPS is 2 to 15 times faster", [QUEUES])
def _(evidence: Evidence) -> Finding:
    publish, consume = (_ratios(evidence, name, HDD) for name in ("rate_in", "rate_out"))
    value = worst("AMPS-1", [*publish.values(), *consume.values()])
    note = f"publish {_by_size(publish)}; consume {_by_size(consume)}; the worst decides"
    return Finding(value, f"{note}; RabbitMQ is fitted, AMPS here is bandwidth / (size + header)")


@SOURCE.claim("AMPS-2", "On the SSD AMPS publishes 24 to 40 times faster", [QUEUES])
def _(evidence: Evidence) -> Finding:
    result = _ratios(evidence, "rate_in", SSD)
    return Finding(worst("AMPS-2", result.values()), _by_size(result))


@SOURCE.claim("AMPS-3", "On the SSD AMPS consumes 16 to 30 times faster", [QUEUES])
def _(evidence: Evidence) -> Finding:
    result = _ratios(evidence, "rate_out", SSD)
    return Finding(worst("AMPS-3", result.values()), _by_size(result))


@SOURCE.claim("AMPS-4", "RabbitMQ is as fast whatever the message size", [QUEUES])
def _(evidence: Evidence) -> Finding:
    results: list[float] = []
    notes = []
    for storage in (HDD, SSD):
        for metric in ("rate_in", "rate_out"):
            rates = [_rate(evidence, metric, THEIRS, storage, size) for size in _sizes(evidence)]
            mean = sum(rates) / len(rates)
            results += [rate / mean for rate in rates]
            notes.append(
                f"{storage} {metric} {four_digits(min(rates))} to {four_digits(max(rates))}"
            )
    return Finding(worst("AMPS-4", results), f"of the mean over sizes; {'; '.join(notes)} msg/s")


@SOURCE.claim("AMPS-5", "RabbitMQ gains little from the faster device", [QUEUES])
def _(evidence: Evidence) -> Finding:
    results = [
        _rate(evidence, metric, THEIRS, SSD, size) / _rate(evidence, metric, THEIRS, HDD, size)
        for metric in ("rate_in", "rate_out")
        for size in _sizes(evidence)
    ]
    low, high = four_digits(min(results)), four_digits(max(results))
    note = f"{low} to {high} over sizes, publish and consume"
    return Finding(worst("AMPS-5", results), note)


@SOURCE.claim("AMPS-6", "AMPS is slower with larger messages and faster on the SSD", [QUEUES])
def _(evidence: Evidence) -> Finding:
    falls = rises = True
    notes = []
    for metric in ("rate_in", "rate_out"):
        rates = {
            storage: [_rate(evidence, metric, OURS, storage, size) for size in _sizes(evidence)]
            for storage in (HDD, SSD)
        }
        falls &= all(more > less for row in rates.values() for more, less in pairwise(row))
        rises &= all(fast > slow for slow, fast in zip(rates[HDD], rates[SSD], strict=True))
        for storage, row in rates.items():
            notes.append(f"{storage} {metric} {' '.join(map(four_digits, row))}")
    points = [
        point
        for point, item in enumerate(evidence.settings(QUEUES))
        if (item.get("broker"), item.get("storage")) == (OURS, HDD)
    ]
    limits = {evidence.bottleneck(QUEUES, point) for point in points}
    return Finding(
        float(falls and rises),
        f"{'; '.join(notes)} msg/s; busiest stage on the disk: {', '.join(sorted(limits))}",
    )


@SOURCE.claim("AMPS-7", "An acknowledgement of RabbitMQ takes up to a few hundred ms", [ACKS])
def _(evidence: Evidence) -> Finding:
    results = {
        storage: {
            metric: evidence.point(ACKS, metric, broker=THEIRS, storage=storage).value / US_PER_MS
            for metric in ("ack_mean", "ack_p99")
        }
        for storage in (HDD, SSD)
    }
    text = "; ".join(
        f"{storage} mean {four_digits(row['ack_mean'])}, 99 % {four_digits(row['ack_p99'])}"
        for storage, row in results.items()
    )
    value = worst("AMPS-7", [row["ack_p99"] for row in results.values()])
    note = "the sync interval of 250 ms is read from the same statement: this is its consequence"
    return Finding(value, f"99 % of them: {text} ms; {note}", by_definition=True)


@SOURCE.claim("AMPS-8", "Acknowledgements of 80, backlog 100, loopback, 24 cores", [QUEUES])
def _(evidence: Evidence) -> Finding:
    settings = [
        setting for setting in evidence.settings(QUEUES) if isinstance(setting, MessagingScenario)
    ]
    asked = {
        (
            setting.system.acknowledge,
            setting.system.prefetch,
            setting.cards["host"]["cores"],
            setting.cards["link"].name,
        )
        for setting in settings
    }
    text = "; ".join(f"{a} of {p}, {c} cores, {link}" for a, p, c, link in asked)
    good = asked == {(80, 100, 24, "loopback-2016")}
    return Finding(float(good), f"set-up of the scenario: {text}", by_definition=True)
