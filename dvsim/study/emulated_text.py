"""An emulated run in words: what it was made with, what a message cost, how busy all was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

COSTS = ("sender", "publisher", "bridge", "broker")  # in the order of the path


def known_of(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a manifest says of an emulated run; nothing of a simulated one."""
    known = manifest.get("emulated")
    return known if isinstance(known, Mapping) else {}


def made_text(manifest: Mapping[str, Any]) -> str:
    """Say in one line what an emulated run was made with.

    >>> print(made_text({"emulated": {"scale": 0.01, "messages_asked": 20_000_000,
    ...     "question": {"clusters": 2, "nodes": 1, "promise": "at most once"},
    ...     "brokers": [{"product": "RabbitMQ", "version": "3.10.8"}]}}))
    emulated: real programs, RabbitMQ 3.10.8, 2 private clusters of 1 node; at most once; 0.01 of
    20,000,000 messages
    """
    known = known_of(manifest)
    question = known.get("question") or {}
    brokers = [
        f"{broker.get('product')} {broker.get('version')}" for broker in known.get("brokers") or []
    ]
    parts = ["real programs", *dict.fromkeys(brokers)]
    if "clusters" in question:
        clusters, nodes = question["clusters"], question["nodes"]
        parts.append(
            f"{clusters} private {'cluster' if clusters == 1 else 'clusters'} of "
            f"{nodes} {'node' if nodes == 1 else 'nodes'}"
        )
    else:
        parts.append(f"at {', '.join(question.get('urls', []))}")
    if "hosts" in question:
        parts.append(f"cards on {question['hosts']}")
    text = f"emulated: {', '.join(parts)}; {question.get('promise')}"
    scale = known.get("scale", 1)
    if scale != 1:
        text += f"; {scale:.3g} of {known.get('messages_asked'):,} messages"
    return text


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
