"""Pages of real runs, shown in one headless Chromium."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace

import pytest
from chromium import KEPT, Chromium, Page, found
from click.testing import CliRunner

from dvsim.contract.load import load_campaign
from dvsim.evidence.lab.judge import judge
from dvsim.evidence.lab.read import read_lab
from dvsim.evidence.validation import validate
from dvsim.session import run_scenarios
from dvsim.study.sweep import prepare
from dvsim.study.sweep import run as run_sweep
from dvsim.study.sweeps.grid import plan
from dvsim.table.compare import side_by_side
from dvsim.view import write_comparison, write_results
from dvsim.view.html import write as write_page
from dvsim.view.lab import lab_page
from dvsim.view.sweep_page import swept_page

HIGH = 6000  # pixels of a page that are kept as a picture
EVIL = "</script><script>window.stolen=1</script><img src=x onerror=window.stolen=1>"
LOOKS = {
    "desktop": {"width": 1200, "height": 900},
    "phone": {"width": 390, "height": 844, "phone": True, "dark": True},
}


def run(*names, scale, replications=2):
    """Run scenarios in memory, much shortened."""
    scenarios = [one for name in names for one in load_campaign(name)]
    return run_scenarios(scenarios, replications=replications, scale=scale, out=None, workers=1)


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The pages by name; what stands on the last one wants to be read as markup."""
    from dvsim.cli.topology import topology

    folder = tmp_path_factory.mktemp("pages")
    made = {}

    def write(name, results, validation=None):
        made[name] = folder / f"{name}.html"
        write_results(made[name], results, validation, f"dvsim report {name}")

    system = run("h3/dv-8", "h3/fdr-8", "h3/dv-2048", "h3/fdr-2048", scale=0.01)
    write("runs", system, validate(system))
    data = read_lab("h3_message_rates.csv")
    made["lab"] = folder / "lab.html"
    page = lab_page(system, judge(system, data), data, "dvsim validate --against")
    write_page(made["lab"], page)
    switch = run("switch/record", "switch/load-latency", scale=0.05)
    write("switch", switch)
    write("messaging", run("zeromq/latency", scale=0.05))
    made["comparison"] = folder / "comparison.html"
    write_comparison(made["comparison"], side_by_side([system[0], system[2]]), "dvsim compare")
    made["studies-compared"] = folder / "studies-compared.html"
    again = replace(switch[1], seed=2)
    write_comparison(made["studies-compared"], side_by_side([switch[1], again]), "dvsim compare")
    keys = ["switch.crossing=brc,xor", "traffic.load=0.05,0.2,0.5", "switch.height=8,16,32"]
    short = ["switch.angles=2", "traffic.slots=1500", "traffic.warmup=300"]
    sweep = prepare("switch/load-latency", plan(keys), overrides=short, replications=2)
    made["sweep"] = folder / "sweep.html"
    write_page(made["sweep"], swept_page(run_sweep(sweep, workers=1, out=None, sweeps=None)))
    named = replace(system[0].scenario, title=EVIL, name=EVIL, question=EVIL, source=EVIL)
    write("evil", [replace(system[0], scenario=named)] * 2)
    made["topology"] = folder / "topology.html"
    asked = f"--preset dv206 --report {made['topology']}"
    CliRunner().invoke(topology, shlex.split(asked), catch_exceptions=False)
    return made


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """The browser; without one there is nothing to see, which is no answer in CI."""
    program = found()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium: tests/install-packages installs it")
        pytest.skip("no Chromium on this machine: tests/install-packages installs it")
    browser = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def shown(chromium, pages):
    """A page as it is shown, opened once: ``shown("runs", "phone")``."""
    opened: dict[tuple[str, str], Page] = {}

    def show(name, look="desktop"):
        if (name, look) not in opened:
            opened[name, look] = chromium.page(pages[name], **LOOKS[look])
        return opened[name, look]

    return show


@pytest.fixture(scope="session")
def drawn(shown):
    """A page of which every figure was looked at; its picture is kept in build/screenshots."""
    done: dict[tuple[str, str], Page] = {}

    def show(name, look="desktop"):
        if (name, look) not in done:
            page = shown(name, look)
            page.draw_all()
            page.screenshot(KEPT / f"{name}-{look}.png", HIGH)
            done[name, look] = page
        return done[name, look]

    return show
