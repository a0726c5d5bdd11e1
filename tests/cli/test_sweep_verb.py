"""Does `dvsim sweep` answer, go on after an interruption, and give the same bytes on a cluster?"""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
from harness.in_process import dvsim
from harness.processes import until
from harness.replies import Told

from dvsim.errors import RunFailed, ScenarioError
from dvsim.study.sweeps import executors
from dvsim.study.sweeps.executors import Workplace, executor

DVSIM = [sys.executable, "-m", "dvsim"]
BIN = str(Path(sys.executable).parent)
VARY = ["--vary", "workload.message_bytes=8..512*8", "--vary", "system.publisher.processes=1..3+1"]
HOW = ["--replications", "2", "--workers", "1"]
LONG = ["--vary", "workload.messages=30000..52000+2000", "--replications", "2"]


@pytest.fixture
def sweep(desk):
    """Run `dvsim sweep` on a small scenario in a folder of the user."""

    def command(*options, cwd="a"):
        where = desk / cwd
        where.mkdir(exist_ok=True)
        return [*DVSIM, "sweep", str(desk / "tcp.toml"), *options], where

    def run(*options, cwd="a"):
        words, where = command(*options, cwd=cwd)
        with contextlib.chdir(where):
            return dvsim(*words[len(DVSIM) :])

    def script(*options):
        words, where = command(*options)
        return subprocess.run(words, cwd=where, capture_output=True, text=True, check=True).stdout

    run.command, run.script = command, script
    return run


def tables(where):
    (folder,) = [path.parent for path in where.glob("sweeps/tcp-*/points.csv")]
    return {name: (folder / name).read_bytes() for name in ("points.csv", "points.parquet")}


def rows(where):
    return list(csv.DictReader(tables(where)["points.csv"].decode().splitlines()))


def test_prints_the_points_and_keeps_a_table(sweep, desk):
    done = sweep(
        *VARY, *HOW, "--report", "page.html", "--where", "processes < 3 or message_bytes == 8"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("tcp: 7 points, seed 1, 2 replications; ± is half of the 95 %")
    assert lines[1].startswith("  Largest delivered rate: ")
    head = next(n for n, line in enumerate(lines) if line.startswith("  message_bytes"))
    assert lines[head].split()[:3] == ["message_bytes", "processes", "delivered_rate"]
    assert [line.split()[:3] for line in lines[head + 1 : head + 4]] == [
        ["8", "B", "1"], ["8", "B", "2"], ["8", "B", "3"],
    ]  # fmt: skip
    assert "points" in done.stderr
    table = rows(desk / "a")
    assert len(table) == 7
    assert table[0]["workload.message_bytes [B]"] == "8"
    assert float(table[0]["delivered_rate_low [1/s]"]) < float(table[0]["delivered_rate [1/s]"])
    assert (desk / "a/runs" / table[0]["run"] / "samples.parquet").is_file()
    assert lines[-1] == "report: page.html"
    assert "Largest delivered rate: " in (desk / "a/page.html").read_text("utf-8")


def test_some_failed_points_end_in_exit_code_4(sweep, desk):  # as docs/sweep.md says
    done = sweep("--vary", "workload.messages=1000000000000,500", *HOW)
    assert done.returncode == 4
    assert "failed: point 0 (messages 1" in done.stdout
    assert "): --vary: workload.messages: is 1000000000000; they take at least" in done.stdout
    assert done.stderr.splitlines()[-1] == "1 of 2 points failed"
    assert [bool(row["error"]) for row in rows(desk / "a")] == [True, False]


def test_a_point_that_is_refused_is_named_by_what_is_varied_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ("--vary", "pattern=transpose,uniform", "--vary", "load=0.1", "--scale", "0.01")
    done = dvsim("sweep", "switch/load-latency", *options, "--set", "switch.height=8", *HOW)
    assert done.returncode == 4
    refused = "failed: point 0 (pattern transpose, load 0.1): --vary: traffic.pattern: "
    assert refused in done.stdout


@pytest.mark.parametrize(
    "values,faults",
    [
        ("processes=two,0", ["must be a plain number, not 'two'", "must be at least 1, is 0"]),
        ("broker.memory=1 GB,1 s", ["'s' is not a unit of size; write for example '128 KiB'"]),
        (
            "broker=small-broker,small-broke",
            ["no card 'small-broke'; did you mean 'small-broker'?"],
        ),
        ("workload.messages=-1..1+2", ["must be at least 1, is -1"]),
    ],
)
@pytest.mark.parametrize("design", [(), ("--sample", "sobol:2"), ("--sensitivity", "--samples=2")])
def test_a_value_that_a_key_cannot_have_is_refused_before_any_point_runs(
    values, faults, design, sweep, desk
):
    done = sweep("--vary", "workload.message_bytes=8,16", "--vary", values, *design, *HOW)
    assert done.returncode == 2
    assert [fault for fault in faults if fault not in done.stderr] == []
    told = [line for line in done.stderr.splitlines() if line.startswith("--vary: ")]
    assert len(told) == len(faults)
    assert list((desk / "a").iterdir()) == []


def test_a_sensitivity_with_an_impossible_point_runs_none(sweep, desk):
    values = ("--vary", "workload.messages=1000000000000,500", "--vary", "processes=1,2")
    done = sweep(*values, "--sensitivity", "--samples", "2", *HOW)
    assert done.returncode == 2
    told = "of 8 points are impossible, and an index needs them all; (workload.messages=10000000"
    assert told in done.stderr
    assert list((desk / "a").iterdir()) == []


def test_a_key_that_there_is_not_ends_in_exit_code_2_before_anything_runs(sweep, desk):
    done = sweep("--vary", "system.broker.memry=1 GB,2 GB", *HOW)
    assert done.returncode == 2
    assert "--vary: system.broker.memry: unknown key; did you mean 'memory'?" in done.stderr
    assert list((desk / "a").iterdir()) == []


def test_a_key_is_set_or_varied(sweep):
    done = sweep("--vary", "workload.messages=100,200", "--set", "workload.messages=300")
    assert done.returncode == 2
    assert done.stderr.startswith("--vary: workload.messages: is given twice: --set ")


def test_a_dry_run_lists_the_points_and_what_is_kept(sweep, desk):
    sweep("--vary", "workload.messages=500", *HOW)
    done = sweep("--vary", "workload.messages=500,600,1000000000000", *HOW, "--dry-run")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1] == ["0", "500", "kept"] and lines[2] == ["1", "600", "to", "run"]
    assert lines[3][:3] == ["2", "1000000000000", "refused:"]
    assert "3 points, 1 kept, 1 to run, 1 refused" in done.stdout
    told = sweep("--vary", "workload.messages=500,600", *HOW, "--dry-run", "--json")
    assert [point["kept"] for point in Told(told.stdout).points] == [True, False]


def undisturbed(sweep, desk, known={}):  # noqa: B006 - what is the same for all is made once
    """Return the tables of the long sweep, made without disturbance by one process."""
    if not known:
        assert sweep(*LONG, "--workers", "1", cwd="b").returncode == 0
        known |= tables(desk / "b")
    return known


def test_after_ctrl_c_the_same_command_goes_on(sweep, desk):
    words, where = sweep.command(*LONG, "--workers", "2")
    child = subprocess.Popen(
        words, cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip

    def finished():  # what is being written is in a hidden folder, and renamed at any time
        folders = (Path(one) for one, _, names in os.walk(where) if "manifest.json" in names)
        return [folder for folder in folders if folder.name[0] != "."]

    until(lambda: len(finished()) >= 2 or child.poll() is not None, "two points", 240)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=240)[1].decode()
    assert child.returncode == 130, said
    assert "the same command goes on from there" in said
    kept = {path: path.stat().st_mtime_ns for path in where.rglob("manifest.json")}
    assert 2 <= len(kept) < 12
    assert [path for path in where.rglob("*") if path.name.startswith(".")] == []
    assert sweep(*LONG, "--workers", "1").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert tables(desk / "a") == undisturbed(sweep, desk)


def test_a_sensitivity_ranks_the_keys_and_is_kept(sweep, desk):
    options = ["--vary", "system.publisher.publish=20 us..80 us"]
    options += ["--vary", "system.broker.memory=50 GB..100 GB", "--samples", "8"]
    done = sweep("--sensitivity", *options, "--workers", "1",
                 "--set", "workload.messages_per_second=1e9")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 keys, 8 samples: 32 points, 1 replication" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[3].split()[0] == "publisher.publish" and "█" in lines[3]
    assert lines[4].split()[0] == "broker.memory" and "█" not in lines[4]
    (kept,) = (desk / "a").glob("sweeps/*/sensitivity.csv")
    assert kept.read_text("utf-8").startswith("result,key,range,first,first_low")
    wrong = sweep("--sensitivity", *options, "--workers", "1", "--result", "delivered_rat",
                  cwd="b")  # fmt: skip
    assert wrong.returncode == 2
    assert "did you mean 'delivered_rate'?" in wrong.stderr
    assert not any((desk / "b").iterdir()), "it ran points first"
    none = sweep("--sensitivity", *options, "--replications", "0")
    assert none.returncode == 2
    assert "--replications: 0 is less than 1" in none.stderr


@pytest.fixture
def cluster(tmp_path):
    """Start a dask scheduler and three workers as processes; give its file and the workers."""
    pytest.importorskip("distributed")
    file, started = tmp_path / "scheduler.json", []

    def start(*words):
        with (tmp_path / f"dask-{len(started)}.log").open("wb") as log:
            command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(file)]
            started.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path))

    start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    for _ in range(3):
        start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    yield file, started[1:]
    for process in reversed(started):
        process.kill()
        process.wait()


def test_a_killed_worker_of_a_cluster_changes_nothing(sweep, desk, cluster):
    file, workers = cluster
    words, where = sweep.command(*LONG, "--scheduler", str(file))
    until(file.is_file, "the file of the scheduler", 240)
    child = subprocess.Popen(
        words, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )

    def runs():  # os.walk goes on where a folder is renamed under its feet
        return [one for one, _, names in os.walk(where) if "values.parquet" in names]

    until(lambda: len(runs()) >= 2 or child.poll() is not None, "two points", 240)
    workers[0].send_signal(signal.SIGKILL)
    assert child.poll() is None, "it was over before the worker was killed"
    said = child.communicate(timeout=200)
    assert child.returncode == 0, said
    assert len(rows(desk / "a")) == 12
    assert all(row["error"] == "" and row["run"] for row in rows(desk / "a"))
    assert tables(desk / "a") == undisturbed(sweep, desk)


def test_a_sweep_says_once_that_there_are_no_workers_and_again_when_all_have_gone(monkeypatch):
    monkeypatch.setattr(executors, "IDLE_S", 0.001)
    workers, seen, running = iter([0, 0, 1, 1, 0, 0, 0]), [], []

    def submit(chunk):
        running.append(Future())
        return running[-1]

    def now():
        there = next(workers, None)
        if there is None:
            running[0].set_result([])
        seen.append(there)
        return there or 0

    by = Workplace(now, submit)
    assert list(executors.done([None], None, None, "", by, lambda: seen.append("said"))) == [[]]
    assert seen == [0, "said", 0, 1, 1, 0, "said", 0, 0, None]


def test_without_distributed_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ScenarioError, match=r"scheduler: .*pip install 'vortexsim\[cluster\]'"),
        executor(1, "tcp://127.0.0.1:1"),
    ):
        pass


def test_a_scheduler_file_that_is_not_there_is_told():
    pytest.importorskip("distributed")
    with pytest.raises((ScenarioError, RunFailed), match="no such file"), executor(1, "no.json"):
        pass


@pytest.mark.parametrize(
    ("address", "required", "said"),
    [
        ("tls://127.0.0.1:1", False, "TLS needs distributed.comm.tls.client.cert"),
        ("tcp://127.0.0.1:1", True, "is not tls://, which distributed.comm.require-encryption"),
    ],
)
def test_an_address_that_dask_is_not_configured_for_is_refused(tmp_path, address, required, said):
    pytest.importorskip("distributed")
    import dask

    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": address}), "utf-8")
    with dask.config.set({"distributed.comm.require-encryption": required}):
        for scheduler in (address, str(file)):
            with pytest.raises(ScenarioError, match=said), executor(1, scheduler):
                pass


def test_the_indices_of_few_samples_are_shares(desk):
    ranges = ("--vary", "sockets=1..4", "--vary", "push_scatter=0.05..0.4", "--scale", "0.001")
    kept = ("--out", str(desk / "runs"), "--sweeps", str(desk / "sweeps"))
    done = dvsim("sweep", "h3/dv-2048", "--sensitivity", *ranges, "--samples", "8", *kept, "--json")
    assert done.returncode == 0, done.stderr
    found = Told(done.stdout).facts["sensitivity"]
    ends = [index[f"{order}{end}"] for index in found for order in ("first", "total")
            for end in ("_low", "", "_high")]  # fmt: skip
    assert len(ends) == 12 and all(0 <= end <= 1 for end in ends)
    assert 1 in ends and 0 in ends  # the estimates themselves go further
