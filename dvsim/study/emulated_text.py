"""An emulated run in words: what it was made with, what a message cost, how busy all was."""

from __future__ import annotations

import pandas as pd

from dvsim.table.manifest import Emulated

COSTS = ("sender", "publisher", "bridge", "broker")  # in the order of the path


def made_text(known: Emulated) -> str:
    """Say in one line what an emulated run was made with.

    >>> asked = {"clusters": 2, "nodes": 1, "promise": "at most once"}
    >>> brokers = [{"product": "RabbitMQ", "version": "3.10.8"}]
    >>> known = {"question": asked, "scale": 0.01, "messages_asked": 20_000_000}
    >>> print(made_text(Emulated(**known, brokers=brokers)))
    emulated: real programs, RabbitMQ 3.10.8, 2 private clusters of 1 node; at most once; 0.01 of
    20,000,000 messages
    """
    asked = known.question
    parts = ["real programs", *([known.broker] if known.brokers else [])]
    if asked.clusters is not None:
        parts.append(
            f"{asked.clusters} private {'cluster' if asked.clusters == 1 else 'clusters'} of "
            f"{asked.nodes} {'node' if asked.nodes == 1 else 'nodes'}"
        )
    else:
        parts.append(f"at {', '.join(asked.urls or [])}")
    if asked.bridge is not None:
        own = asked.bridge
        parts.append(f"bridge {own.command}{f' ({own.version})' * bool(own.version)}")
    if asked.hosts is not None:
        parts.append(f"cards on {asked.hosts}")
    text = f"emulated: {', '.join(parts)}; {asked.promise}"
    return text + (
        f"; {known.scale:.3g} of {known.messages_asked:,} messages" if known.scale != 1 else ""
    )


def costs_of(counters: pd.DataFrame) -> dict[str, float]:
    """Return the CPU seconds per message of each kind of program, in the order of the path."""
    rows = counters[counters["metric"] == "cpu_per_message"]
    means = rows.groupby("component")["value"].mean().to_dict()
    return {kind: float(means[kind]) for kind in COSTS if kind in means}


def total_of(counters: pd.DataFrame, metric: str) -> float:
    """Return a counter summed over components, and then its mean over iterations and runs."""
    rows = counters[counters["metric"] == metric]
    return (
        float(rows.groupby(["replication", "iteration"])["value"].sum().mean()) if len(rows) else 0
    )


def cost_text(counters: pd.DataFrame) -> str:
    """Say in one line what a message cost, and how busy all cores were."""
    costs = [f"{kind} {value * 1e6:.1f} us" for kind, value in costs_of(counters).items()]
    text = f"CPU per message: {', '.join(costs) if costs else 'not counted'}"
    busy = counters[counters["metric"] == "busy"]["value"]
    if len(busy):
        names = counters[counters["metric"] == "busy"]["instance"].nunique()
        of = "the machine" if names == 1 else f"{names} machines"
        text += f"; all cores of {of} {busy.mean():.0%} busy while sending"
    for metric, words in (("duplicates", "duplicates"), ("republished", "published again")):
        number = total_of(counters, metric)
        if number:
            text += f"; {number:,.1f} {words} per iteration"
    blocked = total_of(counters, "blocked_s")
    return text + (f"; blocked by the broker for {blocked:.3g} s per iteration" if blocked else "")
