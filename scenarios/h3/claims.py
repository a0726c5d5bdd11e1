"""The 25 sentences of Kolster & Quick, "Vortex-topology Messaging" (2018), that a run can decide.

*Active polls* are the poll intervals that are not empty. The paper plots a moving average that is
to show them and not the empty buffer (section 3.1), and prints no figure of it, so its sentences
about plots are read as sentences about a moving average over active polls:

- *nearly all samples over*: nine of ten values of it are, so the 10 % quantile decides;
- *the majority of samples above*: the median does;
- *times InfiniBand*, *averages twice*: its mean, which is that of the active polls, over the mean
  of the InfiniBand columns.

How many polls it spans is not said; 50 here, declared before any run. Published mean, spread and
quantiles bound the mean over active polls from both sides, and a claim that these bounds leave
open is not refuted by a model that reproduces the columns.

Runs are looked up by the names of the packaged scenarios, such as ``h3/dv-8`` and ``h3/fdr-8``.
"""

from functools import partial
from itertools import pairwise
from math import ceil

import numpy as np

from dvsim.evidence.claims import MOVING_AVERAGE, Evidence, Finding, Source, four_digits

_BURSTS = (
    "the sentence is about polls that find something; for their number and their scatter the paper "
    "prints only bounds"
)
KNOWN = {
    "H3-01": _BURSTS,
    "H3-02": _BURSTS,
    "H3-04": _BURSTS,
    "H3-05": _BURSTS,
    "H3-07": _BURSTS,
    "H3-09": "the printed means give 1.59 x; the push was fitted to 2 KiB and 128 KiB of run 1, "
    "which are slow, while its 8 KiB is fast, so a law through the two makes 8 KiB too slow",
    "H3-13": "the claimed range is what the quantiles of two held-out columns leave; it depends on "
    "the lengths of bursts, which nobody has published",
    "H3-18": "the record was set on other machines, and the paper names neither their publishers "
    "nor the size of their messages; a card fitted to the figure (pivotal/sizes) gives it, but "
    "confirms nothing; a modelled cluster of 30 nodes (docs/rabbitmq-model.md) takes less, "
    "30,600 msg/s per node with consumers and many queues",
    "H3-24": "it needs rabbitmq-server, librabbitmq-dev, pkg-config and a C compiler",
}

SOURCE = Source(__file__, "Kolster & Quick 2018, Vortex-topology Messaging", order=1, known=KNOWN)

SIZES = (8, 256, 2048, 8192, 131072)
SENT_SIZES = tuple(2**power for power in range(3, 18))  # section 1.3.1
PIVOTAL_PER_NODE = 43_404.0  # msg/s, footnote 4 of the paper
WORD_BYTES = 8
NEVER_BUSIER_THAN = 0.9  # utilisation above which a stage would be called a bottleneck


def dv(size: int) -> str:
    """Return the name of the Data Vortex scenario of a message size."""
    return f"h3/dv-{size}"


def fdr(size: int) -> str:
    """Return the name of the InfiniBand scenario of a message size."""
    return f"h3/fdr-{size}"


ALL_DV = tuple(dv(size) for size in SIZES)


def _smoothed(evidence: Evidence, size: int, quantile: float) -> Finding:
    name = dv(size)
    printed = evidence.printed(name)
    mean = four_digits(evidence.active(name, printed))
    allowed = evidence.allowed(name)
    if allowed is not None:  # a share of 1 - quantile is at least the quantile, and the rest at 0
        allowed = (0.0, allowed[1] / (1 - quantile))
    return Finding(
        evidence.smoothed(name, printed, quantile),
        f"{quantile:.0%} quantile of the moving average over {MOVING_AVERAGE} active polls; "
        f"their mean is {mean} msg/s",
        as_messages=evidence.smoothed(name, "messages", quantile),
        allowed=allowed,
    )


def _active_ratio(evidence: Evidence, size: int) -> Finding:
    name = dv(size)
    printed = evidence.printed(name)
    base = evidence.mean(fdr(size))
    overall = four_digits(evidence.mean(name, printed) / base)
    allowed = evidence.allowed(name)
    if allowed is not None:
        divisor = evidence.published_mean(fdr(size))
        allowed = (allowed[0] / divisor, allowed[1] / divisor)
    return Finding(
        evidence.active(name, printed) / base,
        f"mean over active polls against the mean of InfiniBand; by the mean over all polls "
        f"{overall} x",
        as_messages=evidence.active(name, "messages") / base,
        allowed=allowed,
    )


def _mean_ratio(evidence: Evidence, size: int) -> Finding:
    name = dv(size)
    base = evidence.mean(fdr(size))
    receivers = evidence.receivers(name)
    return Finding(
        evidence.mean(name, evidence.printed(name)) / base,
        "means over all polls; as printed one receiver against all of InfiniBand, as messages all "
        "receivers",
        as_messages=evidence.mean(name, "messages") * receivers / base,
    )


def _words(evidence: Evidence, size: int) -> Finding:
    message_bytes = evidence.runs[dv(size)].scenario.workload.message_bytes
    return Finding(
        float(ceil(message_bytes / WORD_BYTES)),
        "by definition: message size in words of 64 bits",
        by_definition=True,
    )


def _empty(evidence: Evidence, size: int) -> Finding:
    name = dv(size)
    printed = evidence.printed(name)
    shares = evidence.by_column(name, printed, "empty")
    return Finding(
        evidence.statistic(name, printed, "empty"),
        ", ".join(f"{column} {share:.3f}" for column, share in shares.items()),
        as_messages=evidence.statistic(name, "messages", "empty"),
    )


def _sustained(evidence: Evidence, size: int) -> Finding:
    means = evidence.by_column(fdr(size), "messages", "mean")
    text = ", ".join(f"{column} {four_digits(mean)}" for column, mean in means.items())
    return Finding(evidence.mean(fdr(size)), f"mean of {text}")


# one sentence that is said of several sizes
for _id, _quantile, _size, _text in (
    ("H3-01", 0.1, 8, "Nearly all 8 B samples are above 800,000 msg/s"),
    ("H3-04", 0.5, 256, "Most 256 B samples are above 200,000 msg/s"),
):
    SOURCE.claim(_id, _text, [dv(_size)], of_columns=True)(
        partial(_smoothed, size=_size, quantile=_quantile)
    )

for _id, _size, _text in (
    ("H3-06", 256, "A 256 B message is 32 words"),
    ("H3-08", 2048, "A 2 KiB message is 256 words"),
    ("H3-11", 131072, "A 128 KiB message is 16,384 words"),
):
    SOURCE.claim(_id, _text, [dv(_size)])(partial(_words, size=_size))

for _id, _size, _text in (
    ("H3-12", 8, "Most poll intervals are empty: 8 B"),
    ("H3-13", 256, "Most poll intervals are empty: 256 B"),
    ("H3-14", 2048, "Most poll intervals are empty: 2 KiB"),
    ("H3-15", 8192, "Most poll intervals are empty: 8 KiB"),
    ("H3-16", 131072, "A part of the poll intervals is empty: 128 KiB"),
):
    SOURCE.claim(_id, _text, [dv(_size)], of_columns=True)(partial(_empty, size=_size))

for _id, _evaluate, _size, _text in (
    ("H3-02", _active_ratio, 8, "At 8 B the Data Vortex is more than 5 times InfiniBand"),
    ("H3-05", _active_ratio, 256, "At 256 B the Data Vortex is nearly twice InfiniBand"),
    ("H3-07", _active_ratio, 2048, "At 2 KiB the Data Vortex averages twice InfiniBand"),
    ("H3-09", _mean_ratio, 8192, "At 8 KiB the Data Vortex is nearly twice InfiniBand"),
    ("H3-10", _mean_ratio, 131072, "At 128 KiB the Data Vortex is over 10 times InfiniBand"),
):
    SOURCE.claim(_id, _text, [dv(_size), fdr(_size)], of_columns=True)(
        partial(_evaluate, size=_size)
    )

SOURCE.claim(
    "H3-03", "InfiniBand sustains about 130,000 msg/s at 256 B", [fdr(256)], of_columns=True
)(partial(_sustained, size=256))


@SOURCE.claim(
    "H3-17", "InfiniBand sustains well above 60,000 msg/s per node", [fdr(8)], of_columns=True
)
def _(evidence: Evidence) -> Finding:
    receivers = evidence.receivers(fdr(8))
    return Finding(_per_node(evidence, fdr(8)), f"mean rate over {receivers} receivers")


@SOURCE.claim(
    "H3-18", "The record cluster of 30 nodes took 43,404 msg/s per node", ["pivotal/record"]
)
def _(evidence: Evidence) -> Finding:
    name = "pivotal/record"
    receivers = evidence.receivers(name)
    return Finding(
        _per_node(evidence, name),
        f"mean rate over {receivers} receivers; rests on assumed publishers, message size and a "
        "closed loop, in which every batch waits for the slowest node: read it as an order of size",
    )


@SOURCE.claim(
    "H3-19",
    "InfiniBand per node is more than 27 % better than the record",
    [fdr(8)],
    of_columns=True,
)
def _(evidence: Evidence) -> Finding:
    note = f"against the published {four_digits(PIVOTAL_PER_NODE)} msg/s, not a simulated one"
    return Finding(_per_node(evidence, fdr(8)) / PIVOTAL_PER_NODE, note)


@SOURCE.claim(
    "H3-20",
    "At 128 KiB the transport is far faster than the delivery to the broker",
    [dv(131072)],
    of_columns=True,
)
def _(evidence: Evidence) -> Finding:
    name = dv(131072)
    delivered = evidence.mean(name, "messages") * evidence.receivers(name)
    if delivered <= 0:
        return Finding(None, "nothing was delivered")
    # what arrives is delivered in the end, so in one unit the two rates cannot differ for long
    note = (
        f"delivered {four_digits(delivered)} msg/s over {evidence.receivers(name)} receivers; "
        "the ratio is that of the units, pieces and messages"
    )
    return Finding(
        evidence.mean(name, evidence.printed(name)) / delivered,
        note,
        as_messages=evidence.mean(name, "messages") / delivered,
    )


@SOURCE.claim("H3-21", "Receive buffer overruns appear and grow with message size", ALL_DV)
def _(evidence: Evidence) -> Finding:
    per_million, notes = [], []
    for size in SIZES:
        overruns = sum(evidence.counters(dv(size), "card", "overruns").values())
        windows = sum(evidence.counters(dv(size), "card", "windows").values())
        messages = evidence.runs[dv(size)].scenario.workload.messages
        per_million.append(1e6 * overruns / messages)
        share = overruns / windows if windows else 0.0
        notes.append(
            f"{size} B: {four_digits(per_million[-1])} per million messages, "
            f"{four_digits(share)} per window"
        )
    large = [rate for size, rate in zip(SIZES, per_million, strict=True) if size >= 2048]
    grows = all(a <= b for a, b in pairwise(per_million))
    happens = per_million[0] == 0 and min(large) > 0 and grows
    notes.append(
        "a buffer overruns because the bridge drains it more slowly than the card fills it"
    )
    return Finding(float(happens), "; ".join(notes))


@SOURCE.claim("H3-22", "Extra polls are needed to retrieve all pieces at 8 KiB", [dv(8192)])
def _(evidence: Evidence) -> Finding:
    extra = sum(evidence.counters(dv(8192), "receiver", "extra_polls").values())
    return Finding(
        float(extra > 0), f"{four_digits(extra)} polls per iteration find a message in part"
    )


@SOURCE.claim("H3-23", "The Data Vortex network is never the bottleneck", ALL_DV)
def _(evidence: Evidence) -> Finding:
    never, notes = True, []
    for size in SIZES:
        stages = evidence.counters(dv(size), "", "utilisation")
        fabric = max(evidence.counters(dv(size), "fabric", "utilisation").values())
        others = {name: value for name, value in stages.items() if name.split(".")[0] != "fabric"}
        if not others:
            return Finding(None, "only the fabric reports its utilisation")
        busiest = max(others, key=lambda name: others[name])
        never &= fabric < others[busiest] and fabric < NEVER_BUSIER_THAN
        notes.append(f"{size} B: fabric {fabric:.2g}, {busiest} {others[busiest]:.2g}")
    return Finding(float(never), "; ".join(notes))


@SOURCE.claim(
    "H3-24",
    "Every message that is delivered is the message that was sent",
    [],
    emulated=[dv(size) for size in SENT_SIZES],
)
def _(evidence: Evidence) -> Finding:
    lacking = [dv(size) for size in SENT_SIZES if dv(size) not in evidence.emulated]
    if lacking:
        note = "payloads are not simulated; emulated runs of all sizes have them"
        return Finding(None, f"{note}: dvsim validate --all")
    books = [evidence.conservation(dv(size)) for size in SENT_SIZES]
    good = all((book["sent"] == book["queued"]).all() for book in books)
    return Finding(
        float(good),
        f"{len(books)} sizes, {SENT_SIZES[0]} to {SENT_SIZES[-1]} B, over emulated cards into a "
        "real RabbitMQ; such a run ends in an error unless what is drained has the number, the "
        "bytes and the sum of CRC-32 of what was sent; on this machine, not on that of the paper",
    )


@SOURCE.claim("H3-25", "A broker over its memory limit pages to disk and slows down", ["h3/memory"])
def _(evidence: Evidence) -> Finding:
    name = "h3/memory"
    paged = evidence.counters(name, "broker", "paged_bytes")
    rates = {
        metric: evidence.counters(name, "broker", metric)
        for metric in ("rate_before_paging", "rate_while_paging")
    }
    # a broker that never pages has no rate while paging
    over = [broker for broker, size in paged.items() if size > 0]
    if not over:
        return Finding(0.0, "no broker paged")
    before, during = (float(np.mean([rate[broker] for broker in over])) for rate in rates.values())
    note = (
        f"{len(over)} of {len(paged)} brokers paged {four_digits(sum(paged.values()))} B per "
        f"iteration; {four_digits(before)} msg/s before, {four_digits(during)} msg/s from then on"
    )
    return Finding(float(during < before), note)


def _per_node(evidence: Evidence, name: str) -> float:
    return evidence.mean(name) / evidence.receivers(name)
