"""The sentences of the OSU page on AMQP over InfiniBand, decided by runs of ``osu-qpid/``.

The page prints two pictures and no number but the hardware. What a link or a broker costs is
assumed in the cards, so an order that comes out says that the assumptions agree with it, not more;
what is not assumed is that the order turns with the size.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dvsim.evidence.claims import Evidence, Finding, Source, four_digits

SOURCE = Source(__file__, "Ohio State University, AMQP over InfiniBand", order=3)

LATENCY, COMBINED = "osu-qpid/latency", "osu-qpid/exchanges"
IPOIB, GIGE, SDP = "ipoib-ddr", "1gige", "sdp-ddr"
NETWORKS = (IPOIB, GIGE, SDP)
ASSUMED = "all costs are assumed in the cards"


def _latencies(evidence: Evidence, fits: Callable[[int], bool]) -> dict[int, dict[str, float]]:
    """Return the latencies in us of the sizes that fit, by network."""
    sizes = sorted({int(setting.get("message_bytes")) for setting in evidence.settings(LATENCY)})
    return {
        size: {
            link: evidence.point(LATENCY, "latency", link=link, message_bytes=size).value
            for link in NETWORKS
        }
        for size in sizes
        if fits(size)
    }


def _fastest(evidence: Evidence, link: str, fits: Callable[[int], bool]) -> Finding:
    """Return whether a network is the fastest at every size that fits."""
    rows = _latencies(evidence, fits)
    best = all(min(row, key=row.__getitem__) == link for row in rows.values())
    ends = sorted({min(rows), max(rows)})
    text = "; ".join(
        f"{size} B: {', '.join(f'{name} {four_digits(us)}' for name, us in rows[size].items())} us"
        for size in ends
    )
    return Finding(float(best), f"{text}; {_turns(evidence)}; {ASSUMED}")


def _turns(evidence: Evidence) -> str:
    """Return from which size on SDP is faster than IPoIB."""
    rows = _latencies(evidence, lambda _: True)
    ahead = [size for size, row in rows.items() if row[SDP] < row[IPOIB]]
    return f"SDP is ahead of IPoIB from {min(ahead)} B on" if ahead else "SDP is never ahead"


@SOURCE.claim("OSU-1", "IPoIB has the best latency of small messages", [LATENCY])
def _(evidence: Evidence) -> Finding:
    small = evidence.declared(LATENCY, "small")
    return _fastest(evidence, IPOIB, lambda size: size <= small)


@SOURCE.claim("OSU-2", "SDP has the best latency of large messages", [LATENCY])
def _(evidence: Evidence) -> Finding:
    large = evidence.declared(LATENCY, "large")
    return _fastest(evidence, SDP, lambda size: size >= large)


@SOURCE.claim("OSU-3", "Setting up the connection dominates small messages over SDP", [LATENCY])
def _(evidence: Evidence) -> Finding:
    small = evidence.declared(LATENCY, "small")
    enough = evidence.declared(LATENCY, "dominates")
    shares = {
        link: [
            evidence.point(LATENCY, "setup", link=link, message_bytes=size).value
            for size in _latencies(evidence, lambda size: size <= small)
        ]
        for link in NETWORKS
    }
    least, others = min(shares[SDP]), max(shares[IPOIB] + shares[GIGE])
    return Finding(
        float(least >= enough and others < enough),
        f"share of the latency, over sizes up to {small:g} B: SDP at least {four_digits(least)}, "
        f"others at most {four_digits(others)}; rests on an assumed set-up of SDP, and on how "
        "many messages share it",
    )


@SOURCE.claim("OSU-4", "Every message crosses at least two links", [LATENCY])
def _(evidence: Evidence) -> Finding:
    links = [
        evidence.point(LATENCY, "links", link=link, message_bytes=size).value
        for size in _latencies(evidence, lambda _: True)
        for link in NETWORKS
    ]
    return Finding(min(links), "structure: publisher, broker host, consumer", by_definition=True)


@SOURCE.claim(
    "OSU-5", "Publishers, consumers and exchanges give MB/s, msg/s and latency", [COMBINED]
)
def _(evidence: Evidence) -> Finding:
    keys = ("exchange", "publishers", "consumers")
    points = [{key: setting.get(key) for key in keys} for setting in evidence.settings(COMBINED)]
    values = [
        evidence.point(COMBINED, metric, **point).value
        for point in points
        for metric in ("megabytes", "rate_out", "latency")
    ]
    good = all(math.isfinite(value) and value > 0 for value in values)
    kinds = {key: sorted({str(point[key]) for point in points}) for key in keys}
    text = "; ".join(f"{key} {', '.join(results)}" for key, results in kinds.items())
    return Finding(float(good), f"structure: {len(points)} points, {text}", by_definition=True)
