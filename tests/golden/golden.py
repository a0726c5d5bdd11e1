"""What every packaged scenario gives when it is run short: a fingerprint and a few numbers of each.

A fingerprint is a digest of all rows of a table: every sample of a system with its time in
picoseconds, every point of a study with its histograms. Numbers that are not whole are rounded to
nine digits first, so that it does not matter whose logarithm was used: the kept files hold for all
versions of Python and NumPy and all instruction sets.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dvsim.contract.load import load_campaign
from dvsim.scenario.find import Entry, list_scenarios
from dvsim.session import run_scenarios
from dvsim.table.result import Result

HERE = Path(__file__).resolve().parent
CHANGELOG = HERE.parents[1] / "CHANGELOG.md"
SCALES = {"h3": 0.05, "whatif": 0.01, "switch": 0.02, "rabbit": 0.02}
OTHER_SCALE = 0.2
STATISTICS = {"count": "count", "mean": "mean", "median": "50%", "p99": "99%"}
UNEXPLAINED = "WHAT CHANGED, AND WHY"

Kept = dict[str, dict[str, Any]]
"""By scenario: ``scale``, ``fingerprints`` by table, and numbers by what they are of."""


def entries() -> list[Entry]:
    """Return everything that is run: campaigns only gather what has a file of its own.

    Rivals need a program that is not part of dvsim; their Data Vortex is a switch like others.
    """
    return [entry for entry in list_scenarios() if entry.kind not in ("campaign", "rivals")]


def family(name: str) -> str:
    """Return which file keeps the results of a scenario."""
    first, second = name.split("/")[:2]
    return second if second == "whatif" else first


def path_of(name: str) -> Path:
    """Return the file of a family."""
    return HERE / f"{name}.json"


def results(entry: str, overrides: Iterable[str] = ()) -> Kept:
    """Run a scenario short, or all variants of a question, and return what is kept of each."""
    scale = SCALES.get(family(entry), OTHER_SCALE)
    scenarios = load_campaign(entry, list(overrides))
    runs = run_scenarios(scenarios, seed=1, replications=1, scale=scale, workers=1, out=None)
    names = [scenario.name for scenario in scenarios]
    return {
        name: {"scale": scale, "fingerprints": fingerprints(run), **numbers(run)}
        for name, run in zip(names, runs, strict=True)
    }


def fingerprints(run: Result) -> dict[str, str]:
    """Return a digest of each table of a run that has rows."""
    if run.sampled:
        counters = run.values[run.values["iteration"] > 0].drop(columns="point")
        units = [run.kind.unit(name) for name in counters["metric"]]
        tables = {"samples": run.sides["samples"], "counters": counters.assign(unit=units)}
    else:
        points = run.wide
        if "runs" in run.sides:
            points = points.merge(run.sides["runs"], on=["point", "replication"])
        tables = {"points": points} | {n: t for n, t in run.tables.items() if n != "runs"}
    return {name: fingerprint(table) for name, table in tables.items() if len(table)}


def fingerprint(table: pd.DataFrame) -> str:
    """Return 16 hex digits that depend on every row, its order, and the names of the columns."""
    digest = hashlib.sha256()
    for name in table.columns:
        values = table[name].to_numpy()
        if values.dtype.kind == "i":
            body = values.astype("<i8").tobytes()
        elif values.dtype.kind == "f":
            body = "\n".join(f"{value + 0.0:.9g}" for value in values.tolist()).encode()
        else:
            body = "\n".join(map(str, values.tolist())).encode()
        digest.update(f"{name} {values.dtype.kind} {len(body)}\n".encode() + body)
    return digest.hexdigest()[:16]


def numbers(run: Result) -> dict[str, dict[str, float]]:
    """Return a few numbers that a person can read, six digits of each."""
    events = run.manifest.counts.get("events")
    found = {"simulated": {"events": round(events)}} if events is not None else {}
    if not run.sampled:
        for metric in run.SHOWN:
            values = run.wide[metric].dropna().to_numpy()
            if len(values):
                found[f"{metric}, over the points"] = _described(values)
        return found
    for column in run.scenario.probe.columns:
        known = (
            (name, run.by_metric.get((column, 0, f"messages.{key}")))
            for name, key in STATISTICS.items()
        )
        found[f"{column}, messages/s"] = {
            name: _short(estimate.value) for name, estimate in known if estimate is not None
        }
    return found


def _described(values: np.ndarray) -> dict[str, float]:
    median, p99 = np.quantile(values, [0.5, 0.99]).tolist()
    found = {"count": len(values), "mean": float(values.mean()), "median": median, "p99": p99}
    return {name: _short(value) for name, value in found.items()}


def _short(value: float) -> float:
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() else rounded


def differences(kept: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return a line for each number of a scenario that differs, or for the rows behind them."""
    lines = []
    for what in dict.fromkeys([*kept, *found]):
        if what == "fingerprints":
            continue
        old, new = kept.get(what), found.get(what)
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            if old != new:
                lines.append(f"{what}: {old} kept, {new} now")
            continue
        for name in dict.fromkeys([*old, *new]):
            before, now = old.get(name), new.get(name)
            if before is None or now is None or not math.isclose(before, now, rel_tol=1e-5):
                lines.append(f"{what}, {name}: {before} kept, {now} now{_change(before, now)}")
    old, new = kept["fingerprints"], found["fingerprints"]
    tables = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    only = "" if lines else ", though the numbers that are kept do not"
    return lines + [f"rows of its table '{name}' differ{only}" for name in tables]


def _change(before: float | None, now: float | None) -> str:
    return f" ({now / before - 1:+.3%})" if before and now is not None else ""


def read(name: str) -> Kept:
    """Return what is kept of a family, nothing if there is no file."""
    path = path_of(name)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def text(kept: Kept) -> str:
    """Return a file: a line for each record, so that a changed number is a changed line."""
    scenarios = []
    for name, records in kept.items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(v)}" for key, v in records.items())
        scenarios.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(scenarios) + "\n}\n"


def digest(name: str) -> str:
    """Return what CHANGELOG.md calls the kept results of a family by."""
    return hashlib.sha256(path_of(name).read_bytes()).hexdigest()[:8]


def line(name: str) -> str:
    """Return how the line of CHANGELOG.md for the kept results of a family begins."""
    return f"- `{name}` {digest(name)}: "


def explained(name: str, changelog: str) -> bool:
    """Say whether CHANGELOG.md has a line for the kept results of a family, with a reason."""
    found = re.search(rf"^{re.escape(line(name))}(\S.*)$", changelog, re.MULTILINE)
    return found is not None and UNEXPLAINED not in found[1]
