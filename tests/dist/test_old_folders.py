"""What is said about folders that another version of dvsim has kept?

`old/` holds two of them, see its README; a third is made here, of a version to come. What is said
about the second is what docs/versions.md shows.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import dvsim
from dvsim.cli.main import cli
from dvsim.contract.find import kind_named
from dvsim.contract.load import load
from dvsim.errors import RunFailed
from dvsim.kinds.switch.metrics import SIDES as SWITCH
from dvsim.session import run_scenarios
from dvsim.study.parquet import to_parquet
from dvsim.study.store import load_result
from dvsim.table.manifest import FORMAT

HERE = Path(__file__).parent
AGAIN = "run it again (dvsim run h3/dv-131072 --scale 0.005 --replications 1)"
REASONS = {
    "format-1": f"was made by dvsim 0.1.0 on 2026-11-21, and this is dvsim {dvsim.__version__}: "
    "manifest.json has format 1, not 7; ",
    "before-scatter": "was made by dvsim 0.1.0+f5127a0d on 2026-11-21, and this is dvsim "
    f"{dvsim.__version__}: manifest.json has format 2, not 7; ",
}


@pytest.fixture
def kept(tmp_path, desk):
    """A run of today."""
    scenario = load(desk / "mine.toml")
    how = {"replications": 1, "workers": 1}
    (run,) = run_scenarios([scenario], out=tmp_path / "runs", **how)
    return run


@pytest.fixture
def beside(kept):
    """A run of today, with one in the first format beside it."""
    shutil.copytree(HERE / "old" / "format-1", kept.folder.parent / "0123456789ab")
    return kept


def edit(run, name, data, **facts):
    """Change a file of a kept run, as another version would have written it; None: it had none."""
    path = run.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest |= facts
    if data is None:
        manifest["files"].pop(name, None)
    else:
        (run.folder / name).write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        manifest["files"][name] = {"bytes": len(data), "sha256": digest}
    path.write_text(json.dumps(manifest))


def said(*words):
    """Run a command; return its exit code and what it says on stderr."""
    done = CliRunner().invoke(cli, list(map(str, words)), prog_name="dvsim")
    return done.exit_code, done.stderr


@pytest.mark.parametrize("name", REASONS)
@pytest.mark.parametrize("verb", ["report", "compare"])
def test_an_old_folder_is_refused_by_name_with_both_versions_and_what_to_do(name, verb, tmp_path):
    folder, page = HERE / "old" / name, tmp_path / "page.html"
    names = {"report": [folder, "--report"], "compare": [folder, folder, "--report"]}[verb]
    code, text = said(verb, *names, page)
    assert code == 1
    assert text.startswith(f"{folder} {REASONS[name]}")
    assert f"{AGAIN}, or read it with that version" in text
    assert not page.exists()


def test_the_page_shows_what_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(HERE / "old" / "before-scatter", "runs/h3/dv-131072/1151111f67d8")
    code, text = said("report", "runs/h3/dv-131072/1151111f67d8")
    page = (HERE.parents[1] / "docs" / "versions.md").read_text("utf-8")
    shown = page.partition("$ dvsim report ")[2].partition("\n\n")[0].split("\n", 1)[1]
    assert code == 1
    assert text.split() == shown.split()


def test_the_first_fault_of_its_scenario_is_told_and_the_others_are_counted(kept):
    text = (kept.folder / "scenario.toml").read_text()
    for card in ("publisher", "broker"):
        head, table, rest = text.partition(f"[system.{card}]")
        text = head + table + "\nwrong = 1" + rest
    edit(kept, "scenario.toml", text.encode())
    with pytest.raises(
        RunFailed, match=r"scenario\.toml:\d+: system\..*wrong.* \(and 1 more\); run"
    ):
        load_result(kept.folder.rename(kept.folder.with_name("mine")))


def test_a_folder_with_other_columns_is_of_another_version(kept):
    table = pd.DataFrame({"replication": [1]})
    edit(kept, "samples.parquet", to_parquet(table, {"replication": "int16"}))
    with pytest.raises(RunFailed, match=r"and this is dvsim .*: columns are replication; expected"):
        load_result(kept.folder)


@pytest.mark.parametrize("format_", [2, 5, 6])
def test_a_folder_that_was_named_by_its_replications_is_refused_with_its_command(kept, format_):
    edit(kept, None, None, format=format_)
    with pytest.raises(RunFailed) as caught:
        load_result(kept.folder)
    text = str(caught.value)
    assert text.startswith(f"{kept.folder} was made by dvsim ")
    assert f"has format {format_}, not {FORMAT}; run it again ({kept.manifest.command})" in text


def test_a_folder_that_never_had_a_table_is_of_another_version(kept):
    (kept.folder / "values.parquet").unlink()
    with pytest.raises(RunFailed, match=r"not a complete run: values\.parquet is missing"):
        load_result(kept.folder)
    edit(kept, "values.parquet", None)
    with pytest.raises(
        RunFailed, match=r"and this is dvsim .*: values\.parquet is missing, it never had one; run"
    ):
        load_result(kept.folder)


def test_a_folder_of_a_version_to_come_is_refused(tmp_path):
    folder = shutil.copytree(HERE / "old" / "before-scatter", tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"format": FORMAT + 1, "version": "9.0.0", "command": "dvsim.run('x')"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunFailed) as caught:
        load_result(folder)
    wanted = f"{folder} was made by dvsim 9.0.0 on 2026-11-21, and this is dvsim"
    assert str(caught.value).startswith(wanted)
    assert f"has format {FORMAT + 1}, not {FORMAT}; run it again (dvsim.run('x'))" in str(
        caught.value
    )


def test_a_changed_scenario_is_not_taken_for_that_of_another_version(kept):
    path = kept.folder / "scenario.toml"
    path.write_text(path.read_text().replace("seed", "sed").replace("mine", "mime"))
    with pytest.raises(RunFailed, match=r"not a complete run: scenario\.toml (was|is)"):
        load_result(kept.folder)


def test_by_name_the_newest_that_can_be_read_is_taken(beside, tmp_path):
    from dvsim.study.lookup import folders_of

    assert folders_of(beside.scenario.name, tmp_path / "runs") == [beside.folder]


def test_by_name_they_are_refused_if_there_are_no_others(beside, tmp_path):
    from dvsim.study.lookup import folders_of

    shutil.rmtree(beside.folder)
    with pytest.raises(RunFailed, match=r"0123456789ab was made by dvsim 0\.1\.0 on"):
        folders_of(beside.scenario.name, tmp_path / "runs")


def test_the_answer_of_an_older_version_is_not_that_of_this_one(kept, tmp_path, desk, monkeypatch):
    """It has a folder of its own, and both stay."""
    monkeypatch.setattr("dvsim.study.execute.code_version", lambda: "0.0.9+deadbeef")
    how = {"replications": 1, "workers": 1}
    (again,) = run_scenarios([load(desk / "mine.toml")], out=tmp_path / "runs", **how)
    assert again.folder.parent == kept.folder.parent and again.folder != kept.folder
    assert (kept.folder / "manifest.json").exists()


KEPT = {
    7: """\
rabbitmq values: point replication iteration component instance metric value
rabbitmq samples: replication iteration receiver index start_ps duration_ps pieces messages
switch runs: point replication fidelity latency_error throughput_error notes
switch histograms: point replication kind value packets
switch cylinders: point replication level cylinder blocked occupancy
switch theory: point name metric value
switch events: slot packet kind cylinder angle height to_angle to_height by
switch queues: slot waiting in_flight deflected
messaging values: point replication iteration component instance metric value
messaging stages: point replication stage number utilisation
"""
}
"""The columns of each format: whoever changes one raises FORMAT."""


def test_other_columns_need_another_format():
    now = {f"rabbitmq {name}": columns for name, columns in kind_named("rabbitmq").tables.items()}
    now |= {f"switch {name}": columns for name, columns in SWITCH.items()}
    messaging = kind_named("messaging").tables
    now |= {f"messaging {name}": columns for name, columns in messaging.items()}
    lines = [f"{name}: {' '.join(columns)}\n" for name, columns in now.items()]
    assert KEPT[FORMAT] == "".join(lines)
