"""Does a title say nothing that was changed, and is the unchanged run the first of a comparison?"""

import pytest
from harness.in_process import dvsim
from harness.replies import Told

import dvsim as package

SHORT = ("--scale", "0.001", "--replications", "2", "--workers", "1")


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("scenario", "more", "gone"),
    [
        ("h3/dv-2048", ("message_bytes=8192",), "2 KiB messages"),
        ("h3/fdr-8", ("message_bytes=64",), "8 B messages"),
        ("workload/halo", ("ranks=8", "iterations=1", "network=dv"), "512 ranks"),
        ("rabbit/one", ("workload.rate=1000", "seconds=1"), "25,000 msg/s"),
    ],
)
def test_a_title_says_nothing_that_was_changed(scenario, more, gone, desk):
    sets = [word for key in more for word in ("--set", key)]
    assert gone in package.load(scenario).title
    shown = dvsim("show", scenario, *sets)
    short = SHORT if scenario.startswith("h3") else ("--replications", "1")
    done = dvsim("run", scenario, *sets, *short, "--report", "page.md")
    assert (shown.returncode, done.returncode) == (0, 0), done.stderr
    assert gone not in shown.stdout.splitlines()[0]
    assert gone not in done.stdout and gone not in (desk / "page.md").read_text().splitlines()[0]
    again = dvsim("run", scenario, *sets, "--set", "title=Mine", *short)
    assert again.stdout.splitlines()[0].endswith(": Mine")


def test_the_unchanged_run_is_the_first_whatever_was_run_last():
    assert dvsim("run", "h3/dv-256", "--set", "sockets=2", *SHORT).returncode == 0
    assert dvsim("run", "h3/dv-256", *SHORT).returncode == 0
    found = Told(dvsim("compare", "h3/dv-256", "--last", "2", "--json").stdout)
    _, ratio = [row["ratio"] for row in found.of("rate")]
    base = dvsim("run", "h3/dv-256", "--set", "sockets=2", *SHORT, "--baseline", "--json")
    same, _ = [row["ratio"] for row in Told(base.stdout).of("rate")]
    assert ratio == pytest.approx(same) and ratio > 1.5
