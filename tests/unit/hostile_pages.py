"""Every kind of page with a text of choice in all places that somebody else can fill."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lab_data
from manifests import changed
from report_runs import steady_run, tcp_run, validation_of, vortex_run
from study_runs import scenario_of, study_of

from dvsim import Switch
from dvsim.contract.load import load
from dvsim.evidence.lab.judge import judge
from dvsim.evidence.lab.read import read_lab
from dvsim.scenario.types import Card
from dvsim.session import run_scenarios
from dvsim.study.sweep import prepare, run
from dvsim.study.sweeps.grid import plan
from dvsim.table.compare import side_by_side
from dvsim.table.manifest import Manifest
from dvsim.table.result import Result
from dvsim.view import render_comparison, render_report
from dvsim.view.html import html
from dvsim.view.lab import lab_page
from dvsim.view.sensitivity import ENDS, FILE, ORDERS, sensitivity_figures
from dvsim.view.sweep_page import swept_page
from dvsim.view.topology import topology_page


def manifest(one: Manifest, said: str) -> Manifest:
    """A manifest in which every text is of choice."""
    used = [{"role": said, "name": said, "blake2b": said}]
    swept = {} if one.swept is None else {"swept": one.swept.model_dump() | {"runs": said}}
    return changed(
        one,
        version=said,
        git={"commit": said, "dirty": True},
        host={"cpu": said, "cores": 2, "system": said, "python": said},
        command=said,
        started=said,
        cards=used,
        reference=used,
        **swept,
    )


def _card(card: Card, said: str) -> Card:
    parameters = {
        name: replace(one, text=said, source=said, confidence="assumed", origin=said)
        for name, one in card.parameters.items()
    }
    return replace(card, name=said, title=said, notes=said, parameters=parameters)


def _run(one: Result, said: str) -> Result:
    cards = {role: _card(card, said) for role, card in one.scenario.system.cards.items()}
    system = replace(one.scenario.system, **cards)
    texts = {"name": said, "title": said, "question": said, "source": said, "path": said}
    scenario = replace(one.scenario, system=system, **texts)
    return replace(one, scenario=scenario, manifest=manifest(one.manifest, said))


def _study(one: Any, said: str) -> Any:
    texts = {"name": said, "title": said, "question": said, "source": said, "path": said}
    return replace(
        one, scenario=replace(one.scenario, **texts), manifest=manifest(one.manifest, said)
    )


@cache
def _studies() -> list[Any]:
    """A switch with a recorded run, and messaging over hosts."""
    switch = study_of(scenario_of("one", vary=[{"load": (0.2, 0.4)}], record=(20, 20)))
    settings = ["workload.messages=100"]
    scenario = load("zeromq/throughput", settings)
    (messaging,) = run_scenarios([scenario], replications=2, workers=1, out=None)
    return [switch, messaging]


@cache
def _swept() -> Result:
    settings = ["workload.messages=2000", "probe.batch=100"]
    points = plan(["system.publisher.processes=1,2"])
    sweep = prepare("h3/fdr-8", points, overrides=settings, replications=2)
    return run(sweep, workers=1, out=None, sweeps=None)


def _hostile_sweep(said: str) -> Result:
    swept = _swept()
    (key,), table = swept.asked.keys, swept.sides["points"].copy()
    table[key] = [f"{said}{number}" for number in range(len(table))]
    table["bottleneck"] = table["run"] = said
    table.loc[1, "error"] = said
    units = dict.fromkeys(swept.asked.units, said) | {key: ""}
    values = swept.values[swept.values["point"] != 1]
    about = manifest(swept.manifest, said)
    about = changed(about, swept=about.swept.model_dump() | {"units": units})
    named = replace(swept.scenario, name=said)
    return replace(swept, scenario=named, values=values, sides={"points": table}, manifest=about)


def _runs(said: str) -> str:
    runs = [_run(vortex_run(replications=2), said), _run(tcp_run(replications=2), said)]
    return render_report(runs, validation_of([vortex_run(replications=1)]), said)


def _one_run(said: str) -> str:
    return render_report([_run(steady_run([5, 6, 7]), said)], None, said)


def _switch(said: str) -> str:
    study = _study(_studies()[0], said)
    return render_report([study, study], None, said)


def _messaging(said: str) -> str:
    return render_report([_study(_studies()[1], said)], None, said)


def _compared(said: str) -> str:
    runs = [_run(vortex_run(replications=n), said) for n in (2, 3)]
    return render_comparison(side_by_side(runs), said)


def _compared_studies(said: str) -> str:
    return render_comparison(side_by_side([_study(_studies()[0], said)] * 2), said)


def _sweep(said: str) -> str:
    return html(swept_page(_hostile_sweep(said)))


def _topology(said: str) -> str:
    return html(topology_page(said, Switch(height=4, angles=3).graph(), command=said))


def _sensitivity(said: str) -> str:
    columns = ["result", "key", *(f"{order}{end}" for order in ORDERS for end in ENDS)]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([columns, *([said, f"{said}{n}", *["0.5"] * 6] for n in (1, 2))])
    with TemporaryDirectory() as folder:
        Path(folder, FILE).write_text(text.getvalue())
        drawings = sensitivity_figures(Path(folder))
    return render_report([_run(steady_run([5]), said)], None, said, drawings)


def _lab(said: str) -> str:
    """What a laboratory says of its data, and the name of its file."""
    name = said.replace("/", "")
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.csv")
        with path.open("w") as file:
            rows = [[8, 1000, 1000, said], [64, 500, 500, said]]
            csv.writer(file).writerows([["message_bytes", "mean", "50%", "transport"], *rows])
        texts = "".join(
            f"{key} = {json.dumps(said)}\n" for key in ("source", "hardware", "versions", "page")
        )
        path.with_suffix(".toml").write_text(f"{lab_data.META}{texts}")
        data = read_lab(path)
        rates = {8: 1050.0, 64: 600.0}
        runs = [
            _run(lab_data.run_with([rate] * 20, size, name=f"h3/fdr-{size}"), said)
            for size, rate in rates.items()
        ]
        return html(lab_page(runs, judge(runs, data), data, said))


PAGES: dict[str, Callable[[str], str]] = {
    "runs": _runs,
    "one run": _one_run,
    "switch": _switch,
    "messaging": _messaging,
    "runs compared": _compared,
    "studies compared": _compared_studies,
    "sweep": _sweep,
    "sensitivity": _sensitivity,
    "topology": _topology,
    "laboratory": _lab,
}
"""By kind of page: what makes it, with a text of choice in it."""


def notebook(said: str) -> str:
    """Return what a notebook shows of a run, studies and a sweep."""
    results = [_run(steady_run([5, 6]), said), *(_study(one, said) for one in _studies())]
    return "".join(one._repr_html_() for one in [*results, _hostile_sweep(said)])
