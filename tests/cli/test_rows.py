"""Is the number of replications no part of a result: are more of them rows, and fewer a part?"""

import pandas as pd
import pytest
from harness.in_process import dvsim
from harness.replies import Told

KINDS = {
    "h3/dv-8": ["--scale", "0.0005"],
    "switch/zero-load": ["--scale", "0.005"],
    "zeromq/latency": ["--set", "workload.messages=40"],
    "rabbit/one": ["--scale", "0.02"],
}


def told(name, out, *more):
    done = dvsim("run", name, *KINDS[name], "--workers", "1", "--out", out, "--json", *more)
    assert done.returncode == 0, done.stderr
    return Told(done.stdout)


def tables(folder):
    files = sorted(folder.glob("*.parquet"))
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.parametrize("name", KINDS)
def test_more_are_added_and_fewer_are_read(name, tmp_path):
    out, whole = tmp_path / "runs", tmp_path / "whole"
    few = told(name, out, "--replications", "2")
    (folder,) = (path.parent for path in out.rglob("manifest.json"))
    brief = {name: pd.read_parquet(folder / name) for name in tables(folder)}
    many = told(name, out, "--replications", "4")
    assert [path.parent for path in out.rglob("manifest.json")] == [folder]
    for file, before in brief.items():  # only what was missing was run
        now = pd.read_parquet(folder / file)
        if "replication" in now:
            now = now[now["replication"] <= 2].reset_index(drop=True)
        assert now.equals(before), file
    once = told(name, whole, "--replications", "4")
    (other,) = (path.parent for path in whole.rglob("manifest.json"))
    assert tables(other) == tables(folder) and other.name == folder.name
    assert once.values == many.values
    kept = tables(folder)
    part = told(name, out, "--replications", "2")
    (made,) = part.facts["results"]
    assert part.values == few.values != many.values
    assert (made["replications"], made["manifest"]["replications"]) == (2, 2)
    assert tables(folder) == kept


def test_a_run_is_not_compared_with_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, out = "h3/dv-8", tmp_path / "runs"
    for more in ([], ["--set", "system.bridge.sockets=2"], []):
        told(name, out, *more)
    done = dvsim("compare", name, "--last", "2", "--json")
    assert done.returncode == 0, done.stderr
    _, rate = Told(done.stdout).of("rate")
    assert 1.9 < rate["ratio"] < 2.1 and rate["verdict"] == "rises"
    assert dvsim("compare", name, "--last", "3").returncode != 0  # there are two


def test_unequal_numbers_are_compared_by_the_pairs_that_both_have(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, out = "h3/dv-8", tmp_path / "runs"
    for more in (["3"], ["5", "--set", "system.bridge.sockets=2"]):
        told(name, out, "--replications", *more)
    _, rate = Told(dvsim("compare", name, "--last", "2", "--json").stdout).of("rate")
    assert rate["by"] == "paired" and rate["change_low"] < rate["ratio"] < rate["change_high"]


def test_a_sweep_and_a_run_share_their_rows(tmp_path):
    name, out = "h3/dv-8", tmp_path / "runs"
    told(name, out, "--replications", "3", "--set", "system.bridge.sockets=2")
    asked = [name, *KINDS[name], "--workers", "1", "--vary", "system.bridge.sockets=2"]
    asked += ["--out", out, "--sweeps", tmp_path / "sweeps", "--json"]
    for times in (2, 5):
        done = dvsim("sweep", *asked, "--replications", str(times))
        assert done.returncode == 0, done.stderr
        rate = Told(done.stdout).one("delivered_rate")
        assert rate["n"] == times
    assert len(list(out.rglob("manifest.json"))) == 1
    more = told(name, out, "--replications", "5", "--set", "system.bridge.sockets=2")
    assert more.one("rate")["value"] == pytest.approx(rate["value"])
