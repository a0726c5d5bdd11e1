"""Does `make check` run the tests that a change can touch, and no more than fit into a minute?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import check
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("dvsim/scenario/units.py", "tests/unit/test_units.py"),
        ("dvsim/consistency/grid.py", "tests/unit/test_consistency_grid.py"),
        ("tests/unit/study_runs.py", "tests/unit/test_study_figures.py"),
        ("tests/unit/test_sweep.py", "tests/unit/test_sweep.py"),
        ("models/vortex/run.c", "tests/model/test_core_c.py"),
        ("models/cards/dv-h3.toml", "tests/unit/test_scenario.py"),
        ("emulator/launcher/serve.c", "tests/emulator/test_launcher.py"),
        ("dvsim/view/page.html.jinja", "tests/unit/test_report.py"),
        ("docs/bridge.md", "tests/docs/test_site.py"),
        ("tests/harness/left.py", "tests/harness/test_harness.py"),
    ],
)
def test_a_change_leads_to_its_tests(changed, test):
    chosen, late = check.choose({changed})
    assert test in {*chosen, *late}


def test_what_is_near_comes_first_and_the_rest_is_named(monkeypatch):
    monkeypatch.setattr(check, "MOST_S", 30)
    monkeypatch.setattr(check, "durations", dict)
    chosen, late = check.choose({"dvsim/scenario/units.py"})
    assert len(chosen) == 30 / check.UNKNOWN_S
    assert {*check.ALWAYS, "tests/unit/test_units.py"} <= {*chosen}
    assert len(late) > len(chosen)
    assert not {*late} & {*chosen}


def test_a_file_without_time_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    text = "def test_takes(fixture): pass\n"
    (tmp_path / "test_late.py").write_text(text.replace("fixture", "no_fixture"), "utf-8")
    assert "fixture 'no_fixture' not found" in check.plan([str(tmp_path / "test_late.py")])
    (tmp_path / "test_late.py").write_text(text.replace("fixture", "tmp_path"), "utf-8")
    assert check.plan([str(tmp_path / "test_late.py")]) == ""


def test_a_file_that_is_gone_is_no_error():
    chosen, _ = check.choose({"dvsim/gone.py", "tests/unit/test_gone.py"})
    assert {*chosen} == {*check.ALWAYS}


def test_a_clean_tree_means_the_last_commit():
    assert check.changed("HEAD") or check.changed(None)


def hostile(out, *arguments):
    command = [sys.executable, "tests/harness/hostile.py", "--out", str(out), *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280
    )


@pytest.mark.parametrize("way", ["nohup", "shuffle"])
def test_the_cheapest_ways_of_test_hostile(tmp_path, way):
    program = "tests/emulator/test_death.py::test_signals_reach_the_programs"
    done = hostile(tmp_path / "out", way, "--tests", program)
    assert done.returncode == 0, (tmp_path / "out" / f"{way}.log").read_text()
    assert done.stdout.startswith(f"{way} ")
    assert " passed" in done.stdout


def test_a_way_that_fails_is_said(tmp_path):
    done = hostile(tmp_path / "out", "terminal", "--tests", "tests/none.py")
    assert done.returncode == 1
    assert "terminal  FAILED" in done.stdout


def test_a_way_that_there_is_not_is_refused(tmp_path):
    done = hostile(tmp_path / "out", "blindfold")
    assert done.returncode == 2
    assert "no way 'blindfold'; there are nohup, terminal, load" in done.stderr
    assert not (tmp_path / "out").exists()
