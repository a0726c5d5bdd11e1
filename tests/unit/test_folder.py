"""Where a run is kept, what is in its folder, and which question it answers."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from kept_run import ASKED, SCENARIO, keep, make_run

from dvsim._version import __version__
from dvsim.contract.kind import How
from dvsim.contract.load import load
from dvsim.errors import OutputError, RunFailed
from dvsim.study.folder import make_room, run_folder
from dvsim.study.parquet import from_parquet, to_parquet
from dvsim.study.store import find_kept, load_result, write_result
from dvsim.table.samples import SAMPLES

HOW = How(__version__, 1, 1)


@pytest.fixture
def kept(tmp_path):
    return keep(tmp_path)


def everything(root: Path):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


# --- names -----------------------------------------------------------------------------------


def test_the_folder_is_named_by_scenario_and_question(tmp_path):
    folder = run_folder(tmp_path, SCENARIO, *ASKED)
    assert folder.parent == tmp_path / "h3" / "fdr-8"
    assert len(folder.name) == 12
    int(folder.name, 16)


@pytest.mark.parametrize(
    "asked",
    [
        ("another", 1, "sim"),
        (__version__, 2, "sim"),
        (__version__, 1, "emu"),
    ],
)
def test_another_question_has_another_folder(tmp_path, asked):
    assert run_folder(tmp_path, SCENARIO, *asked) != run_folder(tmp_path, SCENARIO, *ASKED)


def test_another_value_of_the_scenario_has_another_folder(tmp_path):
    other = load("h3/fdr-8", ["workload.messages=41"])
    assert run_folder(tmp_path, other, *ASKED) != run_folder(tmp_path, SCENARIO, *ASKED)


def test_a_name_cannot_lead_out_of_the_root(tmp_path):
    folder = run_folder(tmp_path, replace(SCENARIO, name="/../../x"), *ASKED)
    assert folder.parent == tmp_path / "x"


# --- writing and reading ---------------------------------------------------------------------


def test_a_run_comes_back_as_it_was(kept):
    back = load_result(kept.folder)
    original = make_run()
    pd.testing.assert_frame_equal(back.sides["samples"], original.sides["samples"])
    pd.testing.assert_frame_equal(back.values, original.values)
    assert back.scenario == original.scenario
    assert (back.seed, back.replications, back.backend) == (1, 1, "sim")
    assert back.folder == kept.folder
    assert back.manifest == kept.manifest


def test_the_folder_holds_what_it_should(kept):
    assert everything(kept.folder) == [
        "manifest.json",
        "samples.parquet",
        "scenario.toml",
        "values.parquet",
    ]


def test_equal_runs_give_equal_bytes(tmp_path):
    one, two = (write_result(make_run(), tmp_path / name) for name in "ab")
    for name in ("samples.parquet", "values.parquet", "scenario.toml"):
        assert (one.folder / name).read_bytes() == (two.folder / name).read_bytes()


def test_other_samples_give_other_bytes(tmp_path):
    one, two = (write_result(make_run(rate), tmp_path / str(rate)) for rate in (10, 11))
    names = [one.manifest.files, two.manifest.files]
    assert names[0]["samples.parquet"] != names[1]["samples.parquet"]
    assert names[0]["values.parquet"] != names[1]["values.parquet"]


def test_bytes_depend_on_the_rows_and_not_on_the_index_of_the_table():
    table = make_run().sides["samples"]
    relabelled = table.set_index(pd.Index(range(100, 100 + len(table))))
    assert to_parquet(table, SAMPLES) == to_parquet(relabelled, SAMPLES)


def test_parquet_of_another_table_is_refused():
    data = to_parquet(make_run().sides["samples"], {"pieces": "int32"})
    with pytest.raises(ValueError, match="columns are pieces; expected replication"):
        from_parquet(data, SAMPLES)


def test_find_run_finds_the_answer_to_the_same_question(tmp_path, kept):
    assert find_kept(HOW, tmp_path, SCENARIO).manifest == kept.manifest
    assert find_kept(replace(HOW, seed=2), tmp_path, SCENARIO) is None


FILES = ["manifest.json", "samples.parquet", "scenario.toml", "values.parquet"]


@pytest.mark.parametrize("name", FILES)
def test_a_kept_run_that_lacks_a_file_is_refused_with_advice(tmp_path, kept, name):
    (kept.folder / name).unlink()
    message = f"{kept.folder} is not a complete run: {name} is missing; run it again with force"
    with pytest.raises(RunFailed, match=re.escape(f"{message} or delete it")):
        find_kept(HOW, tmp_path, SCENARIO)


def forge(kept, edit):
    """Change a kept run and its hashes with it."""
    text = (kept.folder / "scenario.toml").read_bytes()
    manifest = json.loads((kept.folder / "manifest.json").read_text())
    text = edit(text, manifest) or text
    (kept.folder / "scenario.toml").write_bytes(text)
    digest = hashlib.sha256(text).hexdigest()
    manifest["files"]["scenario.toml"] = {"bytes": len(text), "sha256": digest}
    (kept.folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    "edit",
    [
        lambda text, _: text.replace(b"messages = 40", b"messages = 41"),
        lambda _, manifest: manifest.update(seed=2),
        lambda _, manifest: manifest.update(backend="emu"),
        lambda _, manifest: manifest.update(version="0.0.9"),
    ],
    ids=["scenario", "seed", "backend", "version"],
)
def test_a_kept_run_that_answers_another_question_is_refused(tmp_path, kept, edit):
    forge(kept, edit)
    message = f"{kept.folder} is not what was asked; run it again with force or delete it"
    with pytest.raises(RunFailed, match=re.escape(message)):
        find_kept(HOW, tmp_path, SCENARIO)


def test_a_file_in_the_place_of_a_kept_run_is_refused(tmp_path):
    folder = run_folder(tmp_path, SCENARIO, *ASKED)
    folder.parent.mkdir(parents=True)
    folder.write_text("")
    with pytest.raises(RunFailed, match=r"is not a complete run: manifest\.json is missing"):
        find_kept(HOW, tmp_path, SCENARIO)


def test_a_place_that_cannot_be_written_is_known_before_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*/file/h3/run: Not a directory"):
        make_room(tmp_path / "file" / "h3" / "run")
    with pytest.raises(OutputError, match="File name too long"):
        make_room(tmp_path / ("x" * 300) / "run")
