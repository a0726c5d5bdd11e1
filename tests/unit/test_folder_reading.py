"""A folder that is no run, or no longer the run it was, is refused by name."""

import hashlib
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from harness.in_process import dvsim
from harness.replies import Told
from kept_run import keep

from dvsim.contract.load import load
from dvsim.errors import RunFailed
from dvsim.kinds.switch.metrics import RUN_COLUMNS, SIDES
from dvsim.session import run_scenarios
from dvsim.study.store import load_result, write_result
from dvsim.table.manifest import read_manifest


@pytest.fixture
def kept(tmp_path):
    return keep(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RunFailed, match="none is not a run: there is no such folder"):
        load_result(tmp_path / "none")


def test_a_folder_that_is_not_a_run_is_named(tmp_path):
    (tmp_path / "nones").mkdir()
    with pytest.raises(RunFailed, match=r"no such folder; did you mean '.*/nones'\?"):
        load_result(tmp_path / "none")
    with pytest.raises(RunFailed, match=r"is not a run: it has no manifest\.json"):
        load_result(tmp_path)


def test_a_folder_of_runs_says_where_they_are(kept):
    above = kept.folder.parent
    with pytest.raises(RunFailed, match=re.escape(f"manifest.json; there are in it: {above}/*")):
        load_result(above)


@pytest.mark.parametrize("name", ["samples.parquet", "values.parquet", "scenario.toml"])
def test_a_missing_file_is_named(kept, name):
    (kept.folder / name).unlink()
    with pytest.raises(RunFailed, match=f"{name} is missing; run it again with force"):
        load_result(kept.folder)


@pytest.mark.parametrize("name", ["samples.parquet", "values.parquet", "scenario.toml"])
def test_a_truncated_file_is_named(kept, name):
    data = (kept.folder / name).read_bytes()
    (kept.folder / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(RunFailed, match=f"{name} is truncated or changed"):
        load_result(kept.folder)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("end", ["pipe", "zero"])
def test_what_is_no_file_and_may_have_no_end_is_not_read(kept, end):
    path = kept.folder / "samples.parquet"
    path.unlink()
    if end == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(RunFailed, match=r"samples\.parquet is truncated or changed: 0 bytes"):
        load_result(kept.folder)


def test_a_changed_table_is_named(kept):
    path = kept.folder / "samples.parquet"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(RunFailed, match=r"samples\.parquet was changed after the run"):
        load_result(kept.folder)


def test_a_table_that_is_none_is_named_even_with_its_hash(kept):
    data = b"not parquet"
    (kept.folder / "samples.parquet").write_bytes(data)
    manifest = json.loads((kept.folder / "manifest.json").read_text())
    digest = hashlib.sha256(data).hexdigest()
    manifest["files"]["samples.parquet"] = {"bytes": len(data), "sha256": digest}
    (kept.folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunFailed, match=r"is not a complete run: .*[Pp]arquet"):
        load_result(kept.folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"files": {}, "format": 99}'])
def test_a_broken_manifest_is_named(kept, text):
    (kept.folder / "manifest.json").write_text(text)
    with pytest.raises(RunFailed, match=r"manifest\.json"):
        load_result(kept.folder)


def test_folders_that_go_away_while_a_run_is_looked_for_are_no_defect(tmp_path, monkeypatch):
    def vanish(self, pattern):
        raise FileNotFoundError(2, "No such file or directory", str(self / "gone"))

    monkeypatch.setattr(Path, "glob", vanish)
    with pytest.raises(RunFailed, match=r"is not a run: it has no manifest\.json$"):
        read_manifest(tmp_path)


def before(name, column, tmp_path):
    """Run a switch, keep it as a dvsim without a column of its points did, and return both."""
    scenario = load("switch/zero-load", ["traffic.slots=50"])
    (now,) = run_scenarios([scenario], replications=2, out=tmp_path / "now", workers=1)
    older = replace(now, values=now.values[now.values["metric"] != column])
    return now, write_result(older, tmp_path / name).folder


def test_a_metric_that_came_later_is_not_a_number_in_the_folders_of_before(tmp_path):
    now, folder = before("before", "p99", tmp_path)
    kept = load_result(folder)
    assert kept.wide["p99"].isna().all() and now.wide["p99"].notna().all()
    assert list(kept.wide) == list(now.wide)
    same = [name for name in now.wide if name != "p99"]
    pd.testing.assert_frame_equal(kept.wide[same], now.wide[same])
    beside = dvsim("compare", folder, now.folder, "--json")
    assert beside.returncode == 0, beside.stderr
    rows = Told(beside.stdout).of("throughput", result=1)
    assert {row["ratio"] for row in rows if row["other"] is not None} == {1}
    page = dvsim("report", folder, "--report", tmp_path / "page.md")
    assert page.returncode == 0, page.stderr


def test_a_column_that_is_no_metric_cannot_have_come_later(tmp_path, monkeypatch):
    (now,) = run_scenarios(
        [load("switch/zero-load", ["traffic.slots=50"])], replications=2, out=None
    )
    runs = {name: kind for name, kind in RUN_COLUMNS.items() if name != "latency_error"}
    with monkeypatch.context() as then:
        then.setattr(type(now.kind), "sides", {**SIDES, "runs": runs})
        folder = write_result(now, tmp_path / "before").folder
    with pytest.raises(RunFailed, match=r"columns are .*; expected point"):
        load_result(folder)
