"""Do the verbs answer questions about a switch alone, and fail cleanly? Real files throughout.

What docs/studies.md shows of `dvsim limit` is here on smaller switches.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.main import cli
from dvsim.scenario.find import list_scenarios

MINE = """\
kind = "switch"
title = "mine"
question = "how much?"
source = "a test"

[switch]
height = 4
angles = 3
slot = "22 ns"

[traffic]
load = 0.3
slots = 400
warmup = 50

[[vary]]
height = [4, 16]
slots = [400, 200]

[[vary]]
load = [0.1, 0.9]

[compare]
with = ["mean-field"]
"""

FEW = ["--replications", "2", "--workers", "1"]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(MINE)
    return "mine.toml"


def call(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def good(*arguments):
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_run_prints_a_row_for_each_point(mine):
    lines = good("run", mine, *FEW).splitlines()
    assert lines[0] == "mine: mine"
    assert lines[1].startswith("  200 to 400 slots, seed 1, 2 replications; ± is half of the 95 %")
    head = "height load throughput ± mean-field acceptance ± hops ± latency ± p99 latency ns"
    assert " ".join(lines[2].split()) == head
    assert [line.split()[:2] for line in lines[3:7]] == [
        ["4", "0.1"],
        ["4", "0.9"],
        ["16", "0.1"],
        ["16", "0.9"],
    ]
    assert lines[7].startswith("  kept in runs/mine/")
    latency, nanoseconds = float(lines[3].split()[9]), float(lines[3].split()[-1])
    assert nanoseconds == pytest.approx(22 * latency, abs=0.2)


def test_the_second_line_says_what_saturates_last(mine):
    asked = ("run", mine, *FEW, "--set", "traffic.injection=queue")
    lines = good(*asked).splitlines()
    told = r"  Saturates last: height 4, [\d.]+ ± [\d.]+; then height 16, [\d.]+ ± [\d.]+ pack.*"
    assert re.fullmatch(told, lines[1])
    assert lines[2].startswith("  200 to 400 slots, ")
    assert good(*asked, "--verbose").splitlines()[:3] == lines[:3]


def test_points_that_have_not_settled_are_marked_and_explained(mine):
    text = good("run", mine, *FEW, "--set", "traffic.injection=queue")
    rows = [line for line in text.splitlines() if line.split()[:2] == ["16", "0.9"]]
    assert rows[0].endswith("*")
    assert "  * height 16, load 0.9: not settled: queues grew by " in text
    assert "height 16, load 0.1: not settled" not in text


def test_lost_packets_have_a_column_where_there_are_some(mine):
    assert "lost" not in good("run", mine, *FEW)
    faulty = ("--set", 'switch.faults=[["node", 1, 0, 0]]', "--set", "compare.with=['zero-load']")
    assert "lost" in good("run", mine, *FEW, *faulty).splitlines()[2]


def test_the_same_question_is_answered_from_its_folder(mine):
    first = good("run", mine, *FEW)
    (manifest,) = Path("runs").rglob("manifest.json")
    stamp = manifest.stat().st_mtime_ns
    assert good("run", mine, *FEW) == first
    assert manifest.stat().st_mtime_ns == stamp
    good("run", mine, *FEW, "--force")
    assert manifest.stat().st_mtime_ns != stamp
    assert sorted(path.name for path in manifest.parent.iterdir()) == [
        "cylinders.parquet",
        "events.parquet",
        "histograms.parquet",
        "manifest.json",
        "queues.parquet",
        "runs.parquet",
        "scenario.toml",
        "theory.parquet",
        "values.parquet",
    ]


def test_a_kept_scenario_can_be_run_again(mine):
    good("run", mine, *FEW)
    (kept,) = Path("runs").rglob("scenario.toml")
    first = good("run", mine, *FEW).splitlines()
    assert good("run", str(kept), *FEW).splitlines() == first


def test_json_is_one_object_without_nan(mine):
    text = good("run", mine, *FEW, "--set", "traffic.load=0", "--json")
    json.loads(text, parse_constant=pytest.fail)
    told = Told(text)
    assert told.facts["results"][0]["scenario"] == "mine"
    assert (told.points[1]["height"], told.points[1]["slots"]) == (16, 200)
    rows = {(row["point"], row["metric"]): row for row in told.values}
    assert rows[0, "acceptance"]["value"] is None
    assert rows[1, "throughput"] == {
        "point": 1,
        "component": "",
        "instance": 0,
        "metric": "throughput",
        "value": 0.0,
        "low": 0.0,
        "high": 0.0,
        "n": 2,
        "unit": "packets/slot/input",
    }


def test_one_report_is_about_runs_and_studies(mine):
    few = ("--scale", "0.01", *FEW)
    good("run", mine, "h3/fdr-8", *few, "--report", "both.html")
    page = Path("both.html").read_text()
    assert "<h1>2 results</h1>" in page
    for section in ("answer", "limits", "study-0", "basis", "asked", "origin"):
        assert f'<section id="{section}"' in page
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))  # each address leads to one place
    good("report", "mine", "h3/fdr-8", "--report", "again.md")
    assert "## Where it comes from" in Path("again.md").read_text()


def test_both_kinds_are_run_in_one_command(mine):
    text = good("run", mine, "h3/fdr-8", *FEW, "--scale", "0.01")
    assert text.index("mine: mine") < text.index("h3/fdr-8: ")


def test_report_reads_the_folder_of_a_study(mine):
    good("run", mine, *FEW)
    (manifest,) = Path("runs").rglob("manifest.json")
    assert good("report", str(manifest.parent), "--report", "page.html") == "page.html\n"
    assert "mine" in Path("page.html").read_text()


def test_a_wrong_file_is_told_with_its_lines(mine):
    Path(mine).write_text(MINE.replace("height = 4\n", "height = 5\n").replace("0.9", "9"))
    for verb in ("check", "run", "show"):
        result = call(verb, mine)
        assert result.exit_code == 2
        said = result.output.splitlines()
        assert said[0].startswith("mine.toml:7: switch.height: must be a power of two")
        assert said[1].startswith("mine.toml:21: vary.1.load.1: must be at most 1.0")
    assert not Path("runs").exists()


def test_a_misspelt_scenario_gets_the_nearest():
    result = call("run", "switch/load-latencies")
    assert result.exit_code == 2
    assert "no such scenario; did you mean 'switch/load-latency'?" in result.stderr


def test_every_packaged_scenario_is_good_and_listed():
    names = [entry.name for entry in list_scenarios() if entry.name.startswith("switch/")]
    assert {"switch/validation", "switch/all", "switch/load-latency"} <= set(names)
    assert good("check", *names).splitlines() == [f"{name}: ok" for name in names]
    listed = good("list", "scenarios")
    assert all(name in listed for name in names)
    kinds = {entry.name: entry.kind for entry in list_scenarios()}
    assert kinds["switch/zero-load"] == "switch"
    assert kinds["switch/all"] == "campaign"


def test_all_is_all():
    names = {entry.name for entry in list_scenarios() if entry.name.startswith("switch/")}
    content = Told(good("show", "switch/all", "--json")).facts
    assert {item["name"] for item in content["campaign"]} == names - {
        "switch/all",
        "switch/validation",
    }


def test_show_tells_each_value_and_where_it_was_written(mine):
    text = good("show", mine, "--set", "traffic.load=0.4")
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "." in line[:20]}
    assert rows["switch.angles"] == ["3", "mine.toml:8"]
    assert rows["switch.slot"] == ["22", "ns", "mine.toml:9"]
    assert rows["switch.crossing"] == ["brc", "default"]
    assert rows["traffic.load"] == ["0.4", "--set"]
    assert rows["vary.0.height"] == ["4", "16", "mine.toml:17"]
    keys = [row["key"] for row in Told(good("show", mine, "--json")).facts["keys"]]
    assert "switch.angles" in keys


def test_limit_prints_the_answer_its_probes_and_the_command(mine):
    arguments = ("--until", "acceptance > 0.8", "--between", "0.05", "1", "--tolerance", "0.2")
    result = call("limit", mine, *arguments, "--set", "switch.height=4", "--workers", "1")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "mine: until acceptance > 0.8, load from 0.05 to 1, seed 1"
    assert lines[1].startswith("  ± is half of the 99 % interval")
    assert lines[2].startswith("  holds at load 0.")
    assert lines[3].split() == ["load", "replications", "acceptance", "±"]
    assert lines[4].split()[:2] == ["0.05", "4"]
    assert lines[4].endswith("holds")
    assert "load 1: fails" in result.stderr


def test_limit_with_a_precision_says_what_was_not_reached(mine):
    arguments = ("--until", "acceptance > 0.8", "--between", "0.05", "1", "--tolerance", "0.2")
    asked = ("limit", mine, *arguments, "--set", "switch.height=4", "--workers", "1")
    lines = good(*asked, "--precision", "1%").splitlines()
    assert " 95 % interval" in lines[1]
    times = [line.split()[1] for line in lines[4:-1] if " ± " not in line]
    assert all(3 <= int(number) <= 30 for number in times)
    said = good(*asked, "--precision", "0.1%").splitlines()[-2]
    assert re.fullmatch(
        r"    \d+ of \d+ probes are not within 0.1% with .* replications; the widest is ± .*%, .*",
        said,
    )
    content = Told(good(*asked, "--precision", "1%", "--json")).facts
    assert content["precision"] == 0.01 and content["confidence"] == pytest.approx(0.95)
    for more in ("--replications", "3"), ("--quick",):
        result = call(*asked, "--precision", "1%", *more)
        assert result.exit_code == 2 and "give it or --replications" in result.stderr


def test_limit_as_json(mine):
    arguments = ("--until", "acceptance > 0.8", "--tolerance", "0.2", "--json", "--workers", "1")
    told = Told(good("limit", mine, *arguments))
    first, second = told.facts["limits"]
    assert [(one["height"], one["slots"]) for one in (first, second)] == [(4, 400), (16, 200)]
    assert first["outcome"] == "found"
    assert {row["value"] for row in told.of("acceptance", load=0)} == {None}
    assert 0 < second["holds"] < second["fails"] < 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine.toml", "--until", "acceptanc > 0.9"], "did you mean 'acceptance'?"),
        (["h3/dv-8", "--until", "acceptance > 0.9"], "no metric 'acceptance' in delivered_rate"),
        (["switch/all", "--until", "acceptance > 0.9"], "is a campaign of several scenarios"),
        (["mine.toml", "--until", "p99 < 9", "--seed", "-1"], "--seed: -1 is negative"),
        (["mine.toml", "--until", "p99 < 9", "--workers", "99999"], "99999 is more than 1000"),
        (["mine.toml", "--until", "p99 < 9", "--vary", "hight"], "did you mean 'height'?"),
        (["mine.toml"], "Missing option '--until'"),
    ],
)
def test_limit_tells_what_is_wrong(mine, arguments, said):
    result = call("limit", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_validate_prints_the_claims(mine):
    arguments = ("--scale", "0.005", "--replications", "1", "--workers", "1")
    text = good("validate", "switch", *arguments, "--verbose")
    assert text.startswith("slots scaled by 0.005: not the published workload\n\nclaims:  ")
    assert all(f"\nDV-{number}  " in text for number in range(1, 9))
    assert "\n\nClaims\nDV-1  " in text
    assert "kept switch/saturation: runs/switch/saturation/" in text
    strict = call("validate", "switch/zero-load", *arguments, "--strict")
    assert strict.exit_code == 3
    assert "not every claim is confirmed: DV-3 not reproduced" in strict.stderr


def test_validate_refuses_what_nothing_is_published_of(mine):
    result = call("validate", "switch/hot-spot")
    assert result.exit_code == 2
    assert "none of its scenarios names published figures to compare with" in result.stderr


LONG = ["--set", "traffic.slots=1_000_000", "--set", "switch.height=1024", "--workers", "2"]


def started(mine):
    """Start a long run as in a terminal, in a session of its own, and wait until it has begun."""
    running = subprocess.Popen(
        [sys.executable, "-m", "dvsim", "run", mine, *LONG, "--replications", "9"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not Path("runs").exists():
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.01)
    return running


def workers_of(running):
    """Return how many of its two workers have begun to work: they leave SIGINT to their parent."""
    found = 0
    for pid in Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split():
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{pid}/status").read_text()
            blocked = int(re.search(r"SigBlk:\s+(\w+)", status)[1], 16)
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            found += b"spawn_main" in command and bool(blocked >> (signal.SIGINT - 1) & 1)
    return found


def test_an_interrupted_run_leaves_no_folder(mine):
    running = started(mine)
    deadline = time.monotonic() + 120
    while workers_of(running) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=200)
    assert running.returncode == 128 + signal.SIGTERM
    assert said.splitlines()[-1] == "ended by SIGTERM"
    assert not Path("runs").exists()


@pytest.mark.parametrize("wait", [0.1, 0.4])
def test_workers_that_start_say_nothing_when_they_are_interrupted(mine, wait):
    """As on a terminal, where Ctrl-C reaches all processes; whenever it comes."""
    running = started(mine)
    time.sleep(wait)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=200)
    assert running.returncode == 128 + signal.SIGINT
    assert said.splitlines() == ["interrupted"]
    assert not Path("runs").exists()
