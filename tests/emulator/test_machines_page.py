"""Do the sweeps of docs/machines.md give the same table, with network namespaces as machines?"""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import ssh_machines
from emulator_build import ROOT
from harness.in_process import dvsim
from harness.processes import until

from dvsim.native import emulator_prefix

PAGE = (ROOT / "docs" / "machines.md").read_text("utf-8")
WORKER = "multiprocessing.spawn"
"""In the command line of a process that computes points; dask starts another one if it ends."""


def block(heading):
    """Return the commands of a part of the page that this file tests."""
    part = PAGE[PAGE.index(f"\n## {heading}") :]
    tested = part[part.index(f"tested by tests/emulator/{Path(__file__).name}") :]
    return re.findall(r"^    \$ (.*)$", tested.partition("\n\n## ")[0], re.MULTILINE)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    ssh_machines.need(emulator_prefix())
    with ssh_machines.machines(
        f"{os.getpid()}m", tmp_path_factory.mktemp("ssh"), shared=True
    ) as made:
        settings = made.home / ".config" / "dask" / "dask.yaml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f"temporary-directory: {made.home}\n", "utf-8")
        yield made


@pytest.fixture
def machines(both):
    """The machines, without what the last test has swept."""
    for name in ("runs", "sweeps"):
        shutil.rmtree(both.home / name, ignore_errors=True)
    return both


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The table of the same sweep by one process of this machine."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = next(line for line in block("A sweep on machines") if " sweep " in line).split()
        done = dvsim(*words[1 : words.index("--scheduler")], "--workers", "1")
    assert done.returncode == 0, done.stderr
    return tables(folder)


def tables(folder):
    found = max(folder.glob("sweeps/h3/fdr-8-*/points.csv"), key=lambda path: path.stat().st_size)
    names = ("points.csv", "points.parquet", "values.parquet")
    return {name: (found.parent / name).read_bytes() for name in names}


def started(machines, command, log):
    command = command.removesuffix(" &").replace("--nworkers 4", "--nworkers 1")
    with log.open("wb") as file:
        return machines.begin(f"exec {command}", stdout=file, stderr=file)


def test_a_worker_of_another_machine_is_killed_and_nothing_changes(machines, alone, tmp_path):
    """The worker on a is stopped until the kill: the first two points come from b."""
    commands = block("A sweep on machines")
    log = tmp_path / "scheduler"
    scheduler, here, there = (
        started(machines, command, tmp_path / name)
        for command, name in zip(commands[:3], ("scheduler", "a", "b"), strict=True)
    )
    until(lambda: log.read_text("utf-8").count("Register worker addr") == 2, "both workers", 120)
    assert machines.signal("a", signal.SIGSTOP, WORKER) == 1
    sweep = started(machines, commands[3], tmp_path / "sweep")
    runs = machines.home / "runs"
    until(lambda: len(list(runs.rglob("values.parquet"))) >= 2, "two points of b", 120)
    assert machines.signal("b", signal.SIGKILL, "python") >= 2  # it, and what would start another
    assert machines.signal("a", signal.SIGCONT, WORKER) == 1
    assert sweep.wait(timeout=200) == 0, (tmp_path / "sweep").read_text("utf-8")
    assert there.wait(timeout=200) != 0
    assert tables(machines.home) == alone
    scheduler.terminate()  # and its workers with it
    assert (scheduler.wait(timeout=200), here.wait(timeout=200)) == (0, 0)


def test_machines_share_a_sweep_by_its_kept_points(machines, alone):
    script = "\n".join(block("A sweep in a folder"))
    both_parts = machines.begin(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output, _ = both_parts.communicate(timeout=200)
    assert both_parts.returncode == 0, output
    assert len(list(machines.home.glob("runs/h3/fdr-8/*"))) == 8  # no point was run twice
    assert tables(machines.home) == alone
