"""The 17 sentences of the ØMQ 0.2 tests, decided by runs of ``zeromq/``.

The source prints figures for small messages that differ: 2.6 million messages a second is one each
385 ns, and its density is one each 300 ns. It says of 32 B that one arrives each 400 ns, which is
2.5 million a second. So rates of small messages are read here at 32 B, and the density of small
messages at 4 and 8 B (it leaves out 1 and 2 B, as we do).

Values that a parameter was fitted to are no predictions: the cards say which, and so does the
verdict.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dvsim.evidence.claims import Estimate, Evidence, Finding, Missing, Source, four_digits

SOURCE = Source(__file__, "ZeroMQ project, ØMQ (version 0.2) tests", order=5)

LATENCY, FLOW = "zeromq/latency", "zeromq/throughput"
BUFFERS, AMQP = "zeromq/buffers", "zeromq/amqp"
ENGINE, RAW, BOX = "zeromq-0.2", "raw-tcp", "harpertown-8"
SMALL, LISTED, LARGE = (4, 8), 32, 65536
BELOW, ENOUGH = 4096, 2048  # bytes: of a message, of a buffer
GIGA = 1000.0  # Mb/s


def sizes(evidence: Evidence, scenario: str) -> list[int]:
    """Return the message sizes of a study, in order."""
    return sorted({int(setting.get("message_bytes")) for setting in evidence.settings(scenario)})


def _latency(evidence: Evidence, size: int, client: str = ENGINE) -> Estimate:
    return evidence.point(LATENCY, "latency", client=client, message_bytes=size)


def _flow(evidence: Evidence, metric: str, size: int, streams: int = 1) -> Estimate:
    return evidence.point(FLOW, metric, message_bytes=size, streams=streams)


def _streams(evidence: Evidence, host: str | None = None) -> list[int]:
    """Return the numbers of streams of the study, of one box or of any."""
    settings = evidence.settings(FLOW)
    chosen = [setting for setting in settings if host is None or setting.get("host") == host]
    return sorted({int(item.get("streams")) for item in chosen})


def _line(evidence: Evidence, client: str) -> tuple[float, float, float]:
    """Return slope (us/B), intercept (us) and R² of latency against size."""
    at = sizes(evidence, LATENCY)
    values = [_latency(evidence, size, client).value for size in at]
    slope, start = np.polyfit(at, values, 1)
    rest = np.array(values) - (slope * np.array(at) + start)
    return float(slope), float(start), float(1 - (rest**2).sum() / np.var(values) / len(values))


@SOURCE.claim("ZMQ-1", "A small message takes about 25 us one way", [LATENCY])
def _(evidence: Evidence) -> Finding:
    result = _latency(evidence, SMALL[1])
    return Finding(result.value, f"{SMALL[1]} B: {result.text} us")


@SOURCE.claim("ZMQ-2", "Messages below 4 kB take less than 50 us", [LATENCY])
def _(evidence: Evidence) -> Finding:
    worst = max(
        (_latency(evidence, size) for size in sizes(evidence, LATENCY) if size < BELOW),
        key=lambda item: item.value,
    )
    edge = _latency(evidence, BELOW).text
    return Finding(worst.value, f"the slowest of the sizes below {BELOW} B; at {BELOW} B {edge} us")


@SOURCE.claim("ZMQ-3", "A message of 64 kB takes 0.3 ms", [LATENCY])
def _(evidence: Evidence) -> Finding:
    result = _latency(evidence, LARGE)
    return Finding(result.value, f"{LARGE} B: {result.text} us")


@SOURCE.claim("ZMQ-4", "Latency is linear in the message size", [LATENCY])
def _(evidence: Evidence) -> Finding:
    slope, start, quality = _line(evidence, ENGINE)
    return Finding(
        quality,
        f"R² of {four_digits(start)} us + {slope * 1000:.2f} ns/B over all sizes; 1 to 64 kB in "
        "doublings, so the largest ones weigh most",
    )


@SOURCE.claim("ZMQ-5", "Latency grows less steeply over raw TCP", [LATENCY])
def _(evidence: Evidence) -> Finding:
    engine, raw = (_line(evidence, client)[0] * 1000 for client in (ENGINE, RAW))
    note = f"{raw:.2f} ns/B against {engine:.2f} ns/B; an engine that copies can only be steeper"
    return Finding(float(raw < engine), note)


@SOURCE.claim("ZMQ-6", "One stream carries about 2.6 million small messages a second", [FLOW])
def _(evidence: Evidence) -> Finding:
    result = _flow(evidence, "rate_out", LISTED)
    small = ", ".join(f"{size} B {_flow(evidence, 'rate_out', size).text}" for size in SMALL)
    note = f"read at {LISTED} B, of which the source has 400 ns; {small} msg/s"
    return Finding(result.value, f"{note}; follows from the density that was fitted, ZMQ-12")


@SOURCE.claim("ZMQ-7", "Several streams on 8 cores carry about 4 million small messages", [FLOW])
def _(evidence: Evidence) -> Finding:
    many = _streams(evidence, BOX)
    results = {count: _flow(evidence, "rate_out", LISTED, count) for count in many}
    best = max(results.values(), key=lambda item: item.value)
    text = ", ".join(f"{count}: {four_digits(item.value)}" for count, item in results.items())
    small = four_digits(max(_flow(evidence, "rate_out", SMALL[0], n).value for n in many))
    return Finding(
        best.value, f"best of {text} streams at {LISTED} B; at {SMALL[0]} B it would be {small}"
    )


@SOURCE.claim("ZMQ-8", "10 GbE is exhausted by messages of 512 B", [FLOW])
def _(evidence: Evidence) -> Finding:
    share = evidence.declared(FLOW, "exhausted")
    ceiling = _ceiling(evidence)
    reached: dict[str, int] = {}
    for label, counts in (("8 cores", _streams(evidence, BOX)), ("any", _streams(evidence))):
        enough = [
            size
            for size in sizes(evidence, FLOW)
            if max(_flow(evidence, "megabits", size, n).value for n in counts) >= share * ceiling
        ]
        if not enough:
            raise Missing(f"no size reaches {share:.0%} of {four_digits(ceiling)} Mb/s")
        reached[label] = enough[0]
    largest = max(_flow(evidence, "megabits", reached["any"], n).value for n in _streams(evidence))
    return Finding(
        float(reached["any"]),
        f"smallest size at which any number of streams reaches {share:.0%} of "
        f"{four_digits(ceiling)} Mb/s; with the streams of 8 cores {reached['8 cores']} B; "
        f"{four_digits(largest)} Mb/s there",
    )


@SOURCE.claim("ZMQ-9", "One stream carries no more than 3 Gb/s", [FLOW])
def _(evidence: Evidence) -> Finding:
    best = max(
        (_flow(evidence, "megabits", size) for size in sizes(evidence, FLOW)),
        key=lambda item: item.value,
    )
    return Finding(best.value / GIGA, "the best size")


@SOURCE.claim("ZMQ-10", "Two streams carry 4.5 Gb/s at 64 kB", [FLOW])
def _(evidence: Evidence) -> Finding:
    result = _flow(evidence, "megabits", LARGE, 2)
    return Finding(result.value / GIGA, f"{LARGE} B")


@SOURCE.claim("ZMQ-11", "The network carries no more than 5.6 Gb/s", [FLOW])
def _(evidence: Evidence) -> Finding:
    return Finding(_ceiling(evidence) / GIGA, f"the most streams, {LARGE} B")


@SOURCE.claim("ZMQ-12", "A small message arrives each 300 ns", [FLOW])
def _(evidence: Evidence) -> Finding:
    results = [_flow(evidence, "density", size) for size in SMALL]
    farthest = max(results, key=lambda item: abs(item.value - 300))
    text = ", ".join(f"{size} B {item.text}" for size, item in zip(SMALL, results, strict=True))
    return Finding(farthest.value, f"{text}; the farthest decides")


@SOURCE.claim("ZMQ-13", "A message of 32 B arrives each 400 ns", [FLOW])
def _(evidence: Evidence) -> Finding:
    result = _flow(evidence, "density", LISTED)
    return Finding(result.value, f"{result.text} ns; between ZMQ-12 and ZMQ-9, not fitted itself")


@SOURCE.claim("ZMQ-14", "With two streams a message of 32 B arrives each 600 ns", [FLOW])
def _(evidence: Evidence) -> Finding:
    result = _flow(evidence, "density", LISTED, 2)
    return Finding(result.value, "of each stream")


@SOURCE.claim("ZMQ-15", "A buffer above 2 kB gains nothing", [BUFFERS])
def _(evidence: Evidence) -> Finding:
    result = _by_buffer(evidence)
    best = max(rate for buffer, rate in result.items() if buffer > ENOUGH)
    return Finding(best / result[ENOUGH] - 1, f"best of the larger buffers against {ENOUGH} B")


@SOURCE.claim("ZMQ-16", "Throughput grows with the buffer up to 2 kB", [BUFFERS])
def _(evidence: Evidence) -> Finding:
    results = {buffer: rate for buffer, rate in _by_buffer(evidence).items() if buffer <= ENOUGH}
    grows = all(less < more for less, more in pairwise(results.values()))
    text = ", ".join(f"{buffer} B {four_digits(rate)}" for buffer, rate in results.items())
    return Finding(float(grows), text)


@SOURCE.claim("ZMQ-17", "The AMQP engine carries about 700,000 messages a second", [AMQP])
def _(evidence: Evidence) -> Finding:
    result = evidence.point(AMQP, "rate_out", client="zeromq-0.2-amqp")
    return Finding(result.value, f"{result.text} msg/s")


def _ceiling(evidence: Evidence) -> float:
    """Return what the network carries of the largest messages, with the most streams."""
    return _flow(evidence, "megabits", LARGE, max(_streams(evidence))).value


def _by_buffer(evidence: Evidence) -> dict[int, float]:
    """Return the rates by size of the buffer, smallest first."""
    buffers = sorted({int(setting.get("buffer")) for setting in evidence.settings(BUFFERS)})
    return {buffer: evidence.point(BUFFERS, "rate_out", buffer=buffer).value for buffer in buffers}
