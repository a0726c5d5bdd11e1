"""Is a kind that somebody else wrote a kind like others? It is that of docs/own-kind.md."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness.once import once
from harness.replies import Told

from dvsim.contract import OWN

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
from setups import install_kind, lay_queue  # noqa: E402

DVSIM = [sys.executable, "-m", "dvsim"]


@pytest.fixture
def asked(tmp_path):
    """Ask dvsim with the kind installed; return exit code, output and errors."""
    site = once("own kind", install_kind) / "site"
    lay_queue(tmp_path)

    def ask(*words, path=site, program=DVSIM):
        how = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 60}
        done = subprocess.run(
            [*program, *words], check=False, env={**os.environ, "PYTHONPATH": str(path)}, **how
        )
        return done.returncode, done.stdout, done.stderr

    return ask


def test_its_runs_agree_with_theory_and_are_kept(asked, tmp_path):
    command = ("run", "queue.toml", "--replications", "5", "--json", "--workers", "1")
    status, out, err = asked(*command)
    assert status == 0, err
    told = Told(out)
    (run,) = told.facts["results"]
    for row in told.of("wait", origin="sim"):
        expected = row["load"] / (1 - row["load"])
        assert row["low"] - 0.1 < expected < row["high"] + 0.1
    assert sorted(path.name for path in (tmp_path / run["folder"]).iterdir()) == [
        "manifest.json", "scenario.toml", "values.parquet"
    ]  # fmt: skip
    status, out, err = asked(*command)
    assert Told(out).facts["results"] == [run] and "done" not in err  # answered from its folder


def changed_kind(tmp_path, *pairs):
    """Install the kind with another text of its file; each pair is an old and a new part."""
    site = tmp_path / "site"
    site.mkdir()
    for path in (once("own kind", install_kind) / "site").iterdir():
        (site / path.name).symlink_to(path)
    (site / "mm1.py").unlink()
    text = (ROOT / "docs" / "mm1" / "mm1.py").read_text("utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (site / "mm1.py").write_text(text, "utf-8")
    return site


def test_other_code_of_the_kind_is_another_question(asked, tmp_path):
    command = ("run", "queue.toml", "--replications", "1", "--scale", "0.01", "--json")
    first = Told(asked(*command)[1]).folders
    changed = changed_kind(tmp_path, ("KIND = QueueKind()", "KIND = QueueKind()  # as before"))
    assert Told(asked(*command, path=changed)[1]).folders != first


def test_without_its_package_a_kind_is_unknown_and_the_nearest_is_named(asked, tmp_path):
    status, _, err = asked("run", "queue.toml", path=tmp_path)
    assert status == 2
    message = f"no such kind 'mm1'; there are {', '.join(OWN)}"
    assert err == f"queue.toml:1: kind: {message}\n"
    path = tmp_path / "queue.toml"
    path.write_text(path.read_text().replace('"mm1"', '"mm2"'))
    status, _, err = asked("run", "queue.toml")
    assert (status, err.rpartition("; ")[2]) == (2, "did you mean 'mm1'?\n")


def test_what_is_not_there_yet_says_so(asked):
    status, _, err = asked("run", "queue.toml", "--backend", "emu")
    assert (status, "is of an M/M/1 queue, which only backend sim can run" in err) == (2, True), err


def test_it_is_compared_with_sweeps_of_it_and_with_other_kinds(asked, tmp_path):
    few = ("--set", "queue.customers=5_000", "--replications", "3", "--workers", "1")
    alone = tmp_path / "alone.toml"
    text = (tmp_path / "queue.toml").read_text()
    alone.write_text(text.partition("[[vary]]")[0] + "load = 0.5\n")
    ran = asked("run", "alone.toml", *few, "--json")
    (one,) = Told(ran[1]).folders
    for words in (
        ("run", "queue.toml", *few),
        ("sweep", "alone.toml", "--vary", "queue.load=0.5,0.6", *few),
        ("run", "irregular/fdr", "--replications", "1", "--workers", "1"),
    ):
        status, _, err = asked(*words)
        assert status == 0, err
    (swept,) = (tmp_path / "sweeps").glob("alone-*")
    status, out, err = asked("compare", one, str(swept), "--json")
    assert status == 0, err
    rows = Told(out).of("wait", origin="sim")
    assert [(row["result"], row.get("load"), row["ratio"]) for row in rows] == [
        (0, None, None), (1, 0.5, 1), (1, 0.6, None)
    ]  # fmt: skip
    status, out, err = asked("compare", "queue", str(swept), "--report", "beside.md")
    assert status == 0, err
    assert "| 0.5 | wait, services |" in (tmp_path / "beside.md").read_text("utf-8")
    assert "Only in some, left out of 1: load 0.8." in out
    status, _, err = asked("compare", "queue", "irregular/fdr")
    assert status == 2
    assert (
        "they share no metrics: queue has wait (services), busy; irregular/fdr has time (s)" in err
    )


def test_it_has_pages(asked, tmp_path):
    status, _, err = asked("run", "queue.toml", "--replications", "3", "--report", "page.md")
    assert status == 0, err
    status, out, err = asked("report", "queue", "--report", "again.html")
    assert (status, out) == (0, "again.html\n"), err
    page = (tmp_path / "page.md").read_text("utf-8")
    assert "# A queue with one server\n\nHow long does a customer wait?\n\nLargest wait: " in page
    assert "| load | wait | ± | busy | ± | settled? |" in page
    assert "*Wait against load.* wait: 0.996 at 0.5 to 3.97 at 0.8" in page  # a figure, in words
    assert "mean service times" in (tmp_path / "again.html").read_text("utf-8")


def test_a_timeline_shows_each_customer(asked, tmp_path):
    few = ("--set", "queue.customers=200", "--replications", "1")
    status, _, err = asked("run", "queue.toml", *few, "--trace", "course.json")
    assert status == 0, err
    assert "trace: course.json: 600 events of load 0.5; replication 1" in err
    events = json.loads((tmp_path / "course.json").read_text("utf-8"))["traceEvents"]
    named = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert {"server", "queue"} <= named


QUESTION = """title = "What if more came?"
question = "How long is the wait then?"
source = "nobody asked"
assumed = ["customers come at random"]
baseline = "what comes today"
also = ["busy"]
campaign = ["queue"]

[queue]
customers = 20_000

[[variant]]
name = "few"
says = "half of the customers"
times = { "queue.customers" = 0.5 }
"""


def test_open_questions_are_about_it_too(asked, tmp_path):
    (tmp_path / "question.toml").write_text(QUESTION)
    status, out, err = asked("run", "question.toml", "--replications", "3", "--json")
    assert status == 0, err
    rows = sorted(Told(out).of("wait", question="question"), key=lambda row: row["member"])
    assert [(one["member"], one["with"]) for one in rows] == [
        (f"load {load}", says)
        for load in (0.5, 0.8)
        for says in ("what comes today", "half of the customers")
    ]
    assert rows[0]["unit"] == "services" and rows[0]["ratio"] is None
    assert rows[1]["ratio"] == pytest.approx(1, abs=0.1)
    assert Told(out).of("busy", member="load 0.8")[0]["value"] == pytest.approx(0.8, abs=0.02)
    (tmp_path / "question.toml").write_text(QUESTION.replace('["busy"]', '["bussy"]'))
    status, _, err = asked("run", "question.toml")
    expected = "also.0: must be one of wait, busy, not 'bussy'; did you mean 'busy'?"
    assert (status, err) == (2, f"question.toml:6: {expected}\n")


def test_a_question_fixes_a_key_before_a_variant_changes_it(asked, tmp_path):
    variant = QUESTION.replace('times = { "queue.customers" = 0.5 }', "queue = { load = 0.6 }")
    (tmp_path / "question.toml").write_text(variant)
    status, out, _ = asked("check", "question.toml")
    expected = "is varied by 'queue'; fix it in [queue] of the question first"
    assert (status, out) == (2, f"question.toml:15: variant.0.queue.load: {expected}\n")
    fixed = QUESTION.replace("20_000", "20_000\nload = 0.5")
    for change in ("queue = { load = 0.6 }", 'times = { "queue.load" = 1.2 }'):
        text = fixed.replace('times = { "queue.customers" = 0.5 }', change)
        (tmp_path / "question.toml").write_text(text)
        how = ("--replications", "5", "--json", "--workers", "1")
        status, out, err = asked("run", "question.toml", *how)
        assert status == 0, err
        (answer,), rows = Told(out).facts["answers"], Told(out).of("wait", question="question")
        assert [one["member"] for one in rows] == ["queue", "queue"]
        assert rows[1]["ratio"] == pytest.approx(1.5, rel=0.1)
        assert rows[1]["verdict"] == "rises"
        assert answer["answer"].startswith("Wait up with ")


WAITS = """load,wait (services),busy
0.50,1.02,0.5
0.8,3.1,0.8
0.9,9,0.9
"""


def test_it_is_held_against_measurements_of_its_own_metrics(asked, tmp_path):
    (tmp_path / "waits.csv").write_text(WAITS)
    status, out, err = asked("validate", "queue.toml", "--against", "waits.csv", "--json")
    assert status == 0, err
    told = Told(out)
    verdicts = {row["case"]: row["verdict"] for row in told.rows if row["origin"] == "sim"}
    assert verdicts == {
        "wait, load 0.50": "pass",
        "busy, load 0.50": "pass",
        "wait, load 0.8": "fail",  # theory says 4
        "busy, load 0.8": "pass",
    }
    assert [name for name, _ in told.facts["missing"]] == ["wait, load 0.9", "busy, load 0.9"]
    status, out, err = asked("validate", "queue.toml", "--against", "waits.csv", "--strict")
    assert status == 3 and "In services; intervals are over replications" in out, err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "load,wait (s)\n0.5,1\n",
            "2: wait (s): 's' is not the unit of wait; did you mean 'services'?",
        ),
        ("load,wiat\n0.5,1\n", "1: no column is one of wait, busy; did you mean 'wait'?"),
        (
            "load,metric,statistic,value\n0.5,wiat,mean,1\n",
            "2: metric: 'wiat' is no metric; they are rate, sent rate, latency, confirm latency, "
            "wait, busy; did you mean 'wait'?",
        ),
        (
            "load,metric,statistic,value\n0.5,wait,p99,1\n",
            "2: 99%: of a wait there are means only, no 99%",
        ),
    ],
)
def test_measurements_that_are_none_of_it_are_refused(asked, tmp_path, text, said):
    (tmp_path / "waits.csv").write_text(text)
    status, _, err = asked("validate", "queue.toml", "--against", "waits.csv")
    assert (status, err) == (2, f"waits.csv:{said}\n")


def test_a_sweep_has_its_metrics_in_its_order(asked):
    few = ("--set", "queue.customers=2_000", "--replications", "2", "--workers", "1")
    status, out, err = asked("sweep", "queue.toml", "--vary", "queue.load=0.2,0.4", *few)
    assert status == 0, err
    assert re.search(r"Largest wait: .* services at load 0\.4", out), out
    assert re.search(r"load +wait services +± +busy +±", out), out


def test_python_and_limit_know_it(asked):
    code = "import dvsim; print(len(dvsim.run('queue.toml', replications=2).wide))"
    assert asked(code, program=[sys.executable, "-c"])[:2] == (0, "4\n")
    until = ("limit", "queue.toml", "--until", "wait < 1", "--replications", "4")
    status, out, err = asked(*until, "--scale", "0.1", "--tolerance", "0.05", "--workers", "1")
    assert status == 0, err
    assert "holds at load 0.4" in out or "holds at load 0.5" in out, out


def kind_at(site, monkeypatch):
    """A package of three files with a kind in it, and its version."""
    from dvsim.contract.kind import How

    monkeypatch.syspath_prepend(str(site))
    for name in [name for name in sys.modules if name.split(".")[0] == "whole_kind"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    kind = importlib.import_module("whole_kind.inner.kind").KIND
    return lambda: kind.version(How("1", 1, 1))


@pytest.mark.parametrize(
    "changed", ["kind.py", "inner/kind.py", "inner/data.csv", "deep/er/core.so", "other.py"]
)
def test_every_file_of_its_package_is_part_of_its_version(changed, tmp_path, monkeypatch):
    package = tmp_path / "whole_kind"
    (package / "inner").mkdir(parents=True)
    (package / "deep" / "er").mkdir(parents=True)
    for path in (
        "__init__.py",
        "inner/__init__.py",
        "deep/er/core.so",
        "kind.py",
        "inner/data.csv",
    ):
        (package / path).write_text("")
    (package / "inner" / "kind.py").write_text(
        "from dvsim.contract.kind import Kind\nclass Own(Kind):\n    name = 'own'\nKIND = Own()\n"
    )
    version = kind_at(tmp_path, monkeypatch)
    before = version()
    assert before == version() and before.startswith("1.")
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "x.pyc").write_text("compiled")
    (tmp_path / "beside.py").write_text("x = 1")
    assert before == version()
    with (package / changed).open("a") as file:
        file.write("# more\n")
    assert before != version()


LIKE_OWN = [
    (
        '{"wait": Metric("services"), "busy": Metric("1")}',
        '{"latency": Metric("us", label="idle share"), "throughput": Metric("services")}',
    ),
    ('"busy": float', '"latency": float'),
    ('"wait": float', '"throughput": float'),
]
"""The metrics have names that dvsim's own kinds have, too."""


def test_a_sweep_describes_its_metrics_as_the_kind_does(asked, tmp_path):
    """Also one that dvsim's own kinds have by the same name, in the order of the kind."""
    site = changed_kind(tmp_path, *LIKE_OWN)
    more = ("--vary", "load=0.2,0.4", "--replications", "2", "--scale", "0.01")
    status, out, err = asked("sweep", "queue.toml", *more, "--report", "page.html", path=site)
    assert status == 0, err
    head = next(line for line in out.splitlines() if line.split()[:1] == ["load"])
    assert head.index("latency") < head.index("throughput services")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "idle share" in page and "packets per slot" not in page
    (tmp_path / "lab.csv").write_text("load,latency (ns),throughput\n0.5,500,1\n")
    status, out, err = asked("validate", "queue.toml", "--against", "lab.csv", "--json", path=site)
    assert status == 0, err
    rows = {row["case"]: row for row in Told(out).rows if row["origin"] == "sim"}
    assert {name: row["verdict"] for name, row in rows.items()} == dict.fromkeys(
        ("latency, load 0.5", "throughput, load 0.5"), "pass"
    )


def test_how_long_a_point_is_run_names_no_point(asked, tmp_path):
    text = (tmp_path / "queue.toml").read_text()
    lengths = "\ncustomers = [2_000, 1_000]\n"
    (tmp_path / "queue.toml").write_text(text.rstrip() + lengths)
    few = ("--replications", "2", "--workers", "1", "--report", "page.md")
    status, _, err = asked("run", "queue.toml", *few)
    assert status == 0, err
    page = (tmp_path / "page.md").read_text("utf-8")
    (figure,) = [line for line in page.splitlines() if line.startswith("*Wait against load.*")]
    assert " at 0.8" in figure and "customers" not in figure


FLOW = """    def replicate(self, scenario, seed, replication):
        from dvsim.contract.kind import Plain

        return Plain(self.run(scenario, seed, replication), fidelity="flow")

    def seconds("""


def test_limit_takes_readings_at_flow_fidelity_and_full_keys(asked, tmp_path):
    site = changed_kind(tmp_path, *LIKE_OWN, ("    def seconds(", FLOW))
    words = ("limit", "queue.toml", "--until", "throughput < 1", "--vary", "queue.load")
    more = ("--scale", "0.1", "--tolerance", "0.05", "--workers", "1", "--json")
    status, out, err = asked(*words, *more, path=site)
    assert status == 0, err
    told = Told(out)
    (limit,) = told.facts["limits"]
    assert told.facts["vary"] == "load" and told.facts["between"] == [0.01, 0.99]
    assert limit["holds"] < 0.5 < limit["fails"] and limit["fails"] - limit["holds"] < 0.3
    assert {probe["fidelity"] for probe in told.points} == {"flow"}


@pytest.mark.parametrize(
    ("more", "pairs", "said"),
    [
        (("--vary", "loda"), (), ["'loda'", "did you mean 'load'?"]),
        (("--vary", "customers"), (), ["'customers'", "one of load"]),
        (("--between", "0", "1"), (), ["--between", "from 0.01 to 0.99"]),
        (("--until", "wiat < 1"), (), ["--until", "did you mean 'wait'?"]),
        ((), [('{"load": Order("share", 0.01, 0.99, (0.01, 0.99))}', "{}")], ["--vary", "'mm1'"]),
        ((), [("(0.01, 0.99))}", "None)}")], ["--between", "'load'"]),
    ],
)
def test_what_limit_cannot_search_is_told(asked, tmp_path, more, pairs, said):
    status, out, err = asked(
        *("limit", "queue.toml", "--until", "wait < 1", *more),
        path=changed_kind(tmp_path, *pairs),
    )
    assert (status, out) == (2, "") and all(part in err for part in said), err
