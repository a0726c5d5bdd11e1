"""``dvsim explore`` (docs/sweep.md): the keys that matter get a slider, within a budget."""

import json
import re

import pandas as pd
import pytest
from harness import in_process

QUICK = ("--no-open", "--budget", "1", "--workers", "1")


def explored(path, *words):
    """Return the page, and the points that are kept."""
    done = in_process.dvsim("explore", *words, *QUICK, "--sweeps", str(path / "sweeps"))
    assert done.returncode == 0, done.stderr
    files = (path / "sweeps").rglob("points.parquet")
    points = pd.read_parquet(max(files, key=lambda one: one.stat().st_mtime_ns))
    return (path / re.findall(r"report: (\S+)", done.stdout)[0]).read_text("utf-8"), points


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("h3/dv-2048", ""),
        ("h3/fdr-8", ""),
        ("switch/zero-load", ""),
        ("rabbit/one", "workload.rate"),
        ("irregular/data-vortex", "workload.words"),
        ("pivotal/clients", ""),
    ],
)
def test_the_keys_that_matter_have_sliders(scenario, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page, points = explored(tmp_path, scenario, "--scale", "0.001")
    (drawn,) = (
        json.loads(own)["keys"]
        for own in re.findall(r'<script type="application/json">(.*?)</script>', page)
        if '"keys"' in own
    )
    varied = [key for key in points if "." in key and points[key].nunique() > 1]
    assert any(key.startswith(expected) for key in varied)
    assert {key.rpartition(".")[2] for key in varied} <= set(drawn)


def test_given_keys_are_a_grid_and_ranges_a_sample(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = ("switch/zero-load", "--scale", "0.001")
    _, grid = explored(tmp_path, *name, "--key", "load=0.1,0.2", "--key", "angles=3,5")
    assert len(grid) == 4 and set(grid["replications"]) == {3}
    _, sample = explored(
        tmp_path, *name, "--key", "load=0.1..0.9", "--key", "angles=3,5", "--overwrite"
    )
    assert len(sample) == 64 and sample["load"].between(0.1, 0.9).all()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--key", "laod=1,2"), "load"),
        (("--budget", "0"), "--budget"),
        (("--key", "load=0.1,0.2", "--set", "load=0.3"), "--set"),
        (("--report", "page.txt"), "html"),
    ],
)
def test_bad_input_is_refused(words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = in_process.dvsim("explore", "switch/zero-load", *QUICK, *words)
    assert done.returncode == 2 and told in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_page_that_is_there_is_kept_and_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "explore-zero-load.html").write_text("mine")
    done = in_process.dvsim("explore", "switch/zero-load", *QUICK)
    assert done.returncode == 2 and "--overwrite" in done.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
