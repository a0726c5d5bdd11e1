"""Emulated runs of one machine as rows, one for each iteration; a point is their mean."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dvsim.errors import Advice, Fault, ScenarioError
from dvsim.evidence.calibration import EMULATE, NO_RUN
from dvsim.kinds.rabbitmq.calibration.steady import paces
from dvsim.scenario.types import Parameter
from dvsim.study.store import load_result
from dvsim.table.result import Result

ADVICE = "measure both again, or calibrate them apart"
KINDS = ["sender", "bridge", "publisher", "broker"]
"""Programs of which emulated runs count the CPU time, in the order of the path."""
POINT = ["transport", "message_bytes"]
QUESTION = ("clusters", "nodes", "urls", "promise")

Runs = Mapping[Path, Result]


def load_runs(folders: Sequence[Path]) -> dict[Path, Result]:
    """Return the runs that are kept in folders, each once."""
    runs: dict[Path, Result] = {}
    faults: list[Fault] = []
    for folder in {os.path.realpath(folder): folder for folder in folders}.values():
        own = load_result(folder)
        reason = _unusable(own) if own.sampled else NO_RUN
        if reason:
            faults.append(Fault(str(folder), None, "", reason))
        else:
            runs[folder] = own
    faults += [fault for folder in runs for fault in _apart(runs, folder)]
    if faults:
        raise ScenarioError(faults)
    return runs


def _unusable(run: Result) -> str | None:
    if run.backend != "emu":
        return Advice(f"is a run of backend {run.backend}, which has measured nothing; ", EMULATE)
    offered = run.scenario.workload.messages_per_second
    if offered is not None:
        return f"was offered {offered:,g} messages/s; a cost shows only where nothing else limits"
    return None


def _apart(runs: Runs, folder: Path) -> Iterator[Fault]:
    own = runs[folder]
    path = own.scenario.system.transport
    before = next(name for name in runs if runs[name].scenario.system.transport == path)
    for other, of in ((next(iter(runs)), _machine), (before, _settings)):
        theirs = of(runs[other])
        for what, value in of(own).items():
            if what in theirs and value != theirs[what]:
                message = f"{what} is {_show(value)}, and {_show(theirs[what])} in {other}"
                yield Fault(str(folder), None, "", f"{message}; {ADVICE}")


def _machine(run: Result) -> dict[str, Any]:
    manifest, known = run.manifest, run.manifest.emulated
    return {
        **{f"host {name}": value for name, value in manifest.host},
        "version of dvsim and its programs": manifest.version,
        "broker": "" if known is None else known.broker,
        **{name: (manifest.question or {}).get(name) for name in QUESTION},
        "system.broker": run.scenario.system.cards["broker"].name,
    }


def _settings(run: Result) -> dict[str, Any]:
    system = run.scenario.system
    settings: dict[str, Any] = {"receivers": system.receivers}
    for role, card in system.cards.items():
        settings |= {f"system.{role}.kind": card.kind}
        settings |= {f"system.{role}.{name}": known for name, known in card.parameters.items()}
    return settings


def _show(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return f"'{value.text if isinstance(value, Parameter) else value}'"


def iterations_of(runs: Runs) -> pd.DataFrame:
    """Return a row for each iteration of runs.

    Returns:
        DataFrame: transport, message_bytes, receivers, folder; those of a `Pace`; burst_ps, the
        mean time of a burst in the SRAM of a card; of `KINDS` the CPU seconds per message, not a
        number where they were not counted; busy, the share of all cores' time that was spent, by
        whomever.
    """
    parts = []
    for folder, run in runs.items():
        system, size = run.scenario.system, run.scenario.workload.message_bytes
        batches = run.scenario.probe.batch is not None
        table = pd.DataFrame(paces(run.sides["samples"], system.receivers, batches=batches))
        burst = pd.to_numeric(table.pop("burst"))
        if system.transport != "tcp":
            burst *= system.cards["card"]["vic_to_dram"].ps(size)
        table = table.assign(
            burst_ps=burst,
            receivers=system.receivers,
            folder=pd.Series([folder] * len(table), dtype=object),
        )
        counters = run.values[run.values["metric"].isin(["cpu_per_message", "busy"])]
        by = ["replication", "iteration"]
        means = counters.pivot_table(index=by, columns="component", values="value")
        for name, counted in {**{kind: kind for kind in KINDS}, "busy": "machine"}.items():
            # a short run may be less than a tick of the clock
            good = counted in means and (name == "busy" or (means[counted] > 0).all())
            table[name] = means[counted].to_numpy() if good else np.nan
        parts.append(table.assign(transport=system.transport, message_bytes=size))
    return pd.concat(parts, ignore_index=True)


def points_of(iterations: pd.DataFrame, runs: Runs) -> pd.DataFrame:
    """Return a row for each path and size, ordered by them: geometric means over iterations.

    Besides the columns of `iterations_of` it has folders, the number of iterations, cores, and own:
    the share of all cores' time that the counted programs had, if brokers are counted.
    """
    cores = next(iter(runs.values())).manifest.host.cores or 1
    rows = []
    for (transport, size), part in iterations.groupby(POINT):
        folders = list(dict.fromkeys(part["folder"]))
        with np.errstate(divide="ignore"):
            logs = np.log(part[["time_s", "drift", *KINDS]].to_numpy(np.float64))
        means = np.exp(logs.mean(axis=0))
        about = (transport, size, folders[0], folders, len(part), part["receivers"].iloc[0])
        rows.append((*about, *means, part["busy"].mean(), cores))
    head = [*POINT, "folder", "folders", "iterations", "receivers", "time_s", "drift", *KINDS]
    points = pd.DataFrame(rows, columns=[*head, "busy", "cores"])
    spent = points[KINDS].sum(axis=1) * points["receivers"] / (points["cores"] * points["time_s"])
    points["own"] = spent.where(points["broker"].notna())
    return points


def machine(runs: Runs) -> str:
    """Return the machine on which runs were made, the broker and what was promised, for people."""
    manifest = next(iter(runs.values())).manifest
    cores = manifest.host.cores or 1
    broker = "" if manifest.emulated is None else manifest.emulated.broker
    text = f"{manifest.host.cpu}, {cores} core{'s' * (cores != 1)}, {broker}"
    return f"{text}, {(manifest.question or {}).get('promise')}"
