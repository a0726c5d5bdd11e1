"""A bridge of the user's in the place of vicbridge: is it run, counted, named, asked for?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import EXAMPLES, ROOT, compiled
from emulated import ask, jobs

from dvsim import broker
from dvsim.contract.find import kind_of
from dvsim.contract.kind import How, Job
from dvsim.contract.load import load
from dvsim.emulation import targets
from dvsim.emulation.own_bridge import OwnBridge
from dvsim.emulation.settings import Emulation
from dvsim.errors import RunFailed, ScenarioError
from dvsim.progress import Progress
from dvsim.scenario.render import to_toml

MESSAGES = 2_000
PYTHON = f"{sys.executable} {EXAMPLES / 'rabbit_bridge.py'}"


def scenario():
    return load("h3/dv-256", [f"workload.messages={MESSAGES}", "workload.iterations=1"])


def commands(page):
    """Return the commands that a page of docs/ has for a bridge of one's own."""
    text = (ROOT / "docs" / page).read_text("utf-8").partition("by tests/broker/test_own_bridge")[2]
    return re.findall(r"^    \$ (.*?)(?: +#.*)?$", text.partition("\n\n")[0], re.MULTILINE)


@pytest.fixture
def at(room):
    def emulation(command: str, **others: object) -> Emulation:
        own = OwnBridge(command)
        where = {"urls": (room.nodes[0].url,), "credentials": room.credentials}
        return Emulation(**where, bridge=own, **others)

    return emulation


@pytest.mark.parametrize("at_least_once", [False, True])
@pytest.mark.parametrize("language", ["c", "python"])
def test_an_example_carries_every_message(at, language, at_least_once):
    command = PYTHON if language == "python" else str(compiled("rabbit_bridge"))
    run = ask(scenario(), at(command, at_least_once=at_least_once))
    counters = run.values.set_index(["component", "metric"])["value"]
    assert counters["bridge"]["messages"].sum() == MESSAGES
    assert counters["queue"]["duplicates"].sum() == 0
    assert counters["bridge"]["cpu_per_message"].item() > 0
    assert run.manifest.emulated.question.bridge.command == command
    assert run.manifest.emulated_text.endswith(command)


def test_a_bridge_that_counts_is_believed(at, tmp_path):
    """It writes what it took, by the clock, and has no other column."""
    code = Path(EXAMPLES / "rabbit_bridge.py").read_text()
    begin = "import time\nbegan, taken = time.monotonic_ns(), 0\n"
    code = code.replace("import os\n", f"import os\n{begin}")
    code = code.replace("client.ack(message)", "client.ack(message)\n        taken += 1")
    code += (
        'rows = f"start_ns,duration_ns,messages\\n{began},5000000000,{taken}\\n"\n'
        'Path(os.environ["BRIDGE_STATS"]).write_text(rows)\n'
    )
    (tmp_path / "bridge.py").write_text(code)
    run = ask(scenario(), at(f"{sys.executable} {tmp_path}/bridge.py"))
    assert set(run.sides["samples"]["duration_ps"]) == {5 * 10**12}
    assert run.sides["samples"]["messages"].sum() == MESSAGES


def test_a_changed_program_is_another_question(tmp_path):
    program = tmp_path / "bridge"
    shutil.copy("/bin/true", program)
    program.chmod(0o700)
    before = OwnBridge(str(program)).question()
    assert [*before["files"]] == [str(program)]
    with program.open("ab") as file:
        file.write(b"\0")
    assert OwnBridge(str(program)).question() != before
    assert OwnBridge(f"{program} --fast").question() != OwnBridge(str(program)).question()


@pytest.mark.parametrize(
    ("name", "command"),
    [("h3/fdr-256", "true"), ("h3/dv-256", "./no-such-bridge"), ("h3/dv-256", "a 'b")],
)
def test_what_cannot_be_a_bridge_is_refused_before_anything_runs(name, command):
    with pytest.raises(ScenarioError) as refused:
        ask(load(name), Emulation(bridge=OwnBridge(command)))
    assert {fault.file for fault in refused.value.faults} == {"bridge"}


@pytest.mark.parametrize(
    "command",
    ["echo 'out of order' >&2; exit 7", "exec sleep 1000 >&2; #", "true"],
    ids=["fails", "takes nothing", "ends at once"],
)
def test_a_bridge_that_does_not_do_its_part_fails_the_run(at, room, command, monkeypatch):
    monkeypatch.setattr("dvsim.emulation.targets.STALL_S", 3.0)
    with pytest.raises(RunFailed) as failed:
        ask(scenario(), at(command))
    if "exit 7" in command:
        assert "out of order" in str(failed.value)
    assert jobs(room.nodes[0].url) == []


def test_a_broker_that_dies_ends_the_run_and_the_bridge(monkeypatch):
    made = []

    class Own(broker.Brokers):
        def __init__(self, **how):
            super().__init__(memory=1 << 30, **how)
            made.append(self)

    def on_phase(what, share, rate):
        if rate and "sending" in what:
            made[0].nodes[0].kill()

    monkeypatch.setattr(targets, "Brokers", Own)
    long = load("h3/dv-256", ["workload.messages=20_000_000", "workload.iterations=1"])
    own = OwnBridge(str(compiled("rabbit_bridge")))
    asked = Emulation(clusters=1, nodes=1, bridge=own, at_least_once=True)
    monkeypatch.setattr(Progress, "under_way", lambda _, *what: on_phase(*what))
    job = Job(How("", 1, 1, asked), 1, False, "", {to_toml(long): long})
    found = kind_of(long).made([long], job)
    with pytest.raises(RunFailed, match=r"^h3/dv-256, iteration 1: broker a1 at .* died\n"):
        next(found)
    assert jobs(made[0].nodes[0].url) == []


def test_the_commands_of_the_pages_compare_it_with_the_model_and_vicbridge(tmp_path, room):
    """Those of tutorials/bridge-developer.md; emulated-runs.md has two of them."""
    shown = commands("tutorials/bridge-developer.md")
    assert len(shown) == 5
    assert len(shorter := commands("emulated-runs.md")) == 2 and set(shorter) < set(shown)
    shutil.copy(EXAMPLES / "rabbit_bridge.c", tmp_path)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "VICBRIDGE_URL": room.nodes[0].url,
        "VICBRIDGE_CREDENTIALS": str(room.credentials),
    }
    text = "\n".join(shown).replace("dvsim run", "dvsim run --scale 0.0001")
    done = subprocess.run(
        ["bash", "-ec", text], cwd=tmp_path, env=environment, timeout=200,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("runs/h3/dv-256/[!.]*"))) == 3
    told = [line for line in done.stdout.splitlines() if re.match("[123]  (sim|emu)  ", line)]
    assert ["./rabbit_bridge" in line for line in told] == [False, False, True], done.stdout
