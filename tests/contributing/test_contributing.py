"""Does each addition that CONTRIBUTING.md shows take as few files as it says, and work?"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from harness.replies import Told

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
QUEUE = """kind = "md1"
title = "A queue"
question = "How long does a customer wait?"
source = "Pollaczek and Khinchine: load / (2 - 2 load) services"
queue = { load = 0.5, customers = 100_000 }
"""


@pytest.fixture
def applied(request, tmp_path):
    """Return a folder with dvsim's Python and the cards, and the diff of a test applied to it."""
    copy = tmp_path / "copy"
    built = shutil.ignore_patterns("_emulator", "_core.*", "__pycache__")
    shutil.copytree(ROOT / "dvsim", copy / "dvsim", ignore=built)
    shutil.copytree(ROOT / "models" / "cards", copy / "models" / "cards")
    for path in [*(ROOT / "dvsim" / "core").glob("_core.*"), ROOT / "scenarios"]:
        (copy / path.relative_to(ROOT)).symlink_to(path)
    how = {"cwd": copy, "env": {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}}
    subprocess.run(["git", "apply", HERE / f"{request.param}.diff"], check=True, **how)
    return copy


def run(copy, *words):
    """Run the copy's dvsim beside it and return what it prints."""
    command = [sys.executable, "-m", "dvsim", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(copy), "DVSIM_WORKERS": "1"}
    how = {"cwd": copy.parent, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run(command, check=False, timeout=200, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


def named(name):
    return pytest.mark.parametrize("applied", [name], indirect=True, ids=[name])


@named("stage")
def test_a_stage_is_one_file_and_its_card(applied):
    asked = ["--set", "messages=2000", "--set", "system.card=10gbe-shared", "--replications", "1"]
    rate = Told(run(applied, "run", "h3/fdr-131072", *asked, "--json")).one("rate")
    assert "uplink" in rate["limit"]
    assert rate["value"] * 131_072 == pytest.approx(1.18e9, rel=0.1)


@named("kind")
def test_a_kind_is_one_package_of_four_files(applied):
    package = tomllib.loads((applied / "md1" / "pyproject.toml").read_text("utf-8"))
    (point,) = package["project"]["entry-points"]["dvsim.kinds"].items()
    about = applied / "dvsim_md1-1.0.dist-info"  # as pip leaves it
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: dvsim-md1\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[dvsim.kinds]\n{} = {}\n".format(*point))
    (applied.parent / "queue.toml").write_text(QUEUE)
    wait = Told(run(applied, "run", "queue.toml", "--json")).one("wait")
    assert wait["value"] == pytest.approx(0.5, rel=0.1)


@named("metric")
def test_a_metric_is_one_line(applied):
    text = (ROOT / "scenarios/h3/whatif/bridges.toml").read_text("utf-8")
    question = re.sub(r"^campaign = .*$", 'campaign = ["base"]', text, flags=re.MULTILINE)
    question = question.replace('also = ["overruns"]', 'also = ["windows"]')
    (applied.parent / "question.toml").write_text(question, "utf-8")
    (applied.parent / "base.toml").write_text('extends = "h3/dv-8"', "utf-8")
    asked = ["--scale", "0.001", "--replications", "1"]
    said = run(applied, "run", "question.toml", *asked)
    assert "windows: buffers handed over" in " ".join(said.split())
    assert re.search(r"variant +msg/s +ratio +windows +limit\n.* (\d+)  \S", said)


@named("picture")
def test_a_picture_is_one_function(applied):
    asked = ["--scale", "0.002", "--replications", "1", "--report", "page.html"]
    run(applied, "run", "switch/zero-load", *asked)
    assert "A bar is the longest way" in (applied.parent / "page.html").read_text("utf-8")


@named("verb")
def test_a_verb_is_two_files(applied):
    run(applied, "run", "h3/fdr-8", "--scale", "0.0005", "--replications", "1")
    told = run(applied, "folders", "h3/fdr-8")
    assert re.fullmatch(r"runs/h3/fdr-8/\w+  sim, 2\S+\n", told)


def test_contributing_shows_how_many_files_and_lines_each_takes():
    rows = re.findall(
        r"\| `(\w+)\.diff` \| (\d+)[^|]*\| (\d+) \|$",
        (ROOT / "CONTRIBUTING.md").read_text("utf-8"),
        flags=re.MULTILINE,
    )
    diffs = {path.stem: path.read_text("utf-8") for path in HERE.glob("*.diff")}
    assert {name: (int(files), int(lines)) for name, files, lines in rows} == {
        name: (text.count("\n+++ b/"), len(re.findall(r"^[+](?![+]{2})", text, re.MULTILINE)))
        for name, text in diffs.items()
    }
    assert len(diffs) == 5
