import errno
import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from run_builder import counters, samples

from dvsim._version import __version__
from dvsim.errors import OutputError, RunFailed
from dvsim.results import kept as folder_module
from dvsim.results.atomic import clean, host_name
from dvsim.results.folder import find_run, load_run, make_room, run_folder, write_run
from dvsim.results.manifest import build_manifest, card_hash, git_state
from dvsim.results.run import Run
from dvsim.results.samples import SAMPLE_COLUMNS
from dvsim.results.table import from_parquet, to_parquet
from dvsim.scenario.load import load

SCENARIO = load("h3/fdr-8", ["workload.messages=40"])
ASKED = (__version__, 1, 1, "sim")


def make_run(rate=10):
    table = samples({(1, 1, 0): [rate, rate + 1], (1, 2, 0): [5, 6]})
    counted = counters(
        {("broker.1", "queued"): 20, ("run", "simulated_s"): 2.5, ("run", "events"): 7}
    )
    manifest = build_manifest(
        SCENARIO,
        version=__version__,
        seed=1,
        replications=1,
        backend="sim",
        command=["dvsim", "run", "h3/fdr-8"],
        started=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        wall_s=0.5,
        counters=counted,
    )
    return Run(SCENARIO, 1, 1, "sim", None, manifest, table, counted)


@pytest.fixture
def kept(tmp_path):
    return write_run(make_run(), run_folder(tmp_path, SCENARIO, *ASKED))


def everything(root: Path):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def dead_pid():
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


# --- names -----------------------------------------------------------------------------------


def test_the_folder_is_named_by_scenario_and_question(tmp_path):
    folder = run_folder(tmp_path, SCENARIO, *ASKED)
    assert folder.parent == tmp_path / "h3" / "fdr-8"
    assert len(folder.name) == 12
    int(folder.name, 16)


@pytest.mark.parametrize(
    "asked",
    [
        ("another", 1, 1, "sim"),
        (__version__, 2, 1, "sim"),
        (__version__, 1, 2, "sim"),
        (__version__, 1, 1, "emu"),
    ],
)
def test_another_question_has_another_folder(tmp_path, asked):
    assert run_folder(tmp_path, SCENARIO, *asked) != run_folder(tmp_path, SCENARIO, *ASKED)


def test_another_value_of_the_scenario_has_another_folder(tmp_path):
    other = load("h3/fdr-8", ["workload.messages=41"])
    assert run_folder(tmp_path, other, *ASKED) != run_folder(tmp_path, SCENARIO, *ASKED)


def test_a_name_cannot_lead_out_of_the_root(tmp_path):
    from dataclasses import replace

    folder = run_folder(tmp_path, replace(SCENARIO, name="/../../x"), *ASKED)
    assert folder.parent == tmp_path / "x"


# --- writing and reading ---------------------------------------------------------------------


def test_a_run_comes_back_as_it_was(kept):
    back = load_run(kept.folder)
    original = make_run()
    pd.testing.assert_frame_equal(back.samples, original.samples)
    pd.testing.assert_frame_equal(back.counters, original.counters)
    pd.testing.assert_frame_equal(back.summary(), original.summary())
    assert back.scenario == original.scenario
    assert (back.seed, back.replications, back.backend) == (1, 1, "sim")
    assert back.folder == kept.folder
    assert back.manifest == kept.manifest


def test_the_folder_holds_what_it_should(kept):
    assert everything(kept.folder) == [
        "manifest.json",
        "samples.parquet",
        "scenario.toml",
        "summary.parquet",
    ]


def test_the_report_is_written_before_the_folder_has_its_name(tmp_path):
    folder = run_folder(tmp_path, SCENARIO, *ASKED)
    seen = []

    def report(run, path):
        seen.append(folder.exists())
        path.write_text(f"<p>{run.manifest['files']['samples.parquet']['bytes']}</p>")

    write_run(make_run(), folder, report)
    assert seen == [False]
    assert (folder / "report.html").read_text().startswith("<p>")


def test_a_report_that_fails_leaves_nothing(tmp_path):
    def report(run, path):
        raise RunFailed("no figure")

    with pytest.raises(RunFailed, match="no figure"):
        write_run(make_run(), tmp_path / "run", report)
    assert everything(tmp_path) == []


def test_equal_runs_give_equal_bytes(tmp_path):
    one, two = (write_run(make_run(), tmp_path / name) for name in "ab")
    for name in ("samples.parquet", "summary.parquet", "scenario.toml"):
        assert (one.folder / name).read_bytes() == (two.folder / name).read_bytes()


def test_other_samples_give_other_bytes(tmp_path):
    one, two = (write_run(make_run(rate), tmp_path / str(rate)) for rate in (10, 11))
    names = [one.manifest["files"], two.manifest["files"]]
    assert names[0]["samples.parquet"] != names[1]["samples.parquet"]
    assert names[0]["summary.parquet"] != names[1]["summary.parquet"]


def test_bytes_depend_on_the_rows_and_not_on_the_index_of_the_table():
    table = make_run().samples
    relabelled = table.set_index(pd.Index(range(100, 100 + len(table))))
    assert to_parquet(table, SAMPLE_COLUMNS) == to_parquet(relabelled, SAMPLE_COLUMNS)


def test_parquet_of_another_table_is_refused():
    data = to_parquet(make_run().samples, {"pieces": "int32"})
    with pytest.raises(ValueError, match="columns are pieces; expected replication"):
        from_parquet(data, SAMPLE_COLUMNS)


def test_samples_that_are_none_are_not_kept(tmp_path):
    run = make_run()
    run.samples.loc[0, "duration_ps"] = 0
    with pytest.raises(RunFailed, match="duration_ps is 0"):
        write_run(run, tmp_path / "run")
    assert everything(tmp_path) == []


def test_find_run_finds_the_answer_to_the_same_question(tmp_path, kept):
    assert find_run(tmp_path, SCENARIO, *ASKED).manifest == kept.manifest
    assert find_run(tmp_path, SCENARIO, __version__, 2, 1, "sim") is None


FILES = ["manifest.json", "samples.parquet", "scenario.toml", "summary.parquet"]


@pytest.mark.parametrize("name", FILES)
def test_a_kept_run_that_lacks_a_file_is_refused_with_advice(tmp_path, kept, name):
    (kept.folder / name).unlink()
    message = f"{kept.folder} is not a complete run: {name} is missing; run it again with --force"
    with pytest.raises(RunFailed, match=re.escape(f"{message} or delete it")):
        find_run(tmp_path, SCENARIO, *ASKED)


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
        lambda _, manifest: manifest.update(replications=2),
        lambda _, manifest: manifest.update(backend="emu"),
        lambda _, manifest: manifest.update(version="0.0.9"),
    ],
    ids=["scenario", "seed", "replications", "backend", "version"],
)
def test_a_kept_run_that_answers_another_question_is_refused(tmp_path, kept, edit):
    forge(kept, edit)
    message = f"{kept.folder} is not what was asked; run it again with --force or delete it"
    with pytest.raises(RunFailed, match=re.escape(message)):
        find_run(tmp_path, SCENARIO, *ASKED)


def test_a_file_in_the_place_of_a_kept_run_is_refused(tmp_path):
    folder = run_folder(tmp_path, SCENARIO, *ASKED)
    folder.parent.mkdir(parents=True)
    folder.write_text("")
    with pytest.raises(RunFailed, match=r"is not a complete run: manifest\.json is missing"):
        find_run(tmp_path, SCENARIO, *ASKED)


def test_a_place_that_cannot_be_written_is_known_before_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*/file/h3/run: Not a directory"):
        make_room(tmp_path / "file" / "h3" / "run")
    with pytest.raises(OutputError, match="File name too long"):
        make_room(tmp_path / ("x" * 300) / "run")


# --- failure ---------------------------------------------------------------------------------


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path, monkeypatch):
    write = folder_module.write_bytes

    def full(path, data):
        if path.name == "summary.parquet":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, data)

    monkeypatch.setattr(folder_module, "write_bytes", full)
    with pytest.raises(OutputError, match=r"cannot write .*/run: No space left on device"):
        write_run(make_run(), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_result_that_was_there(tmp_path, monkeypatch):
    write_run(make_run(10), tmp_path / "run")

    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folder_module, "write_bytes", full)
    with pytest.raises(OutputError):
        write_run(make_run(20), tmp_path / "run")
    assert load_run(tmp_path / "run").samples["pieces"].max() == 11
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*/file/h3/run: Not a directory"):
        write_run(make_run(), tmp_path / "file" / "h3" / "run")


def test_a_file_in_the_place_of_the_folder_is_not_replaced(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(OutputError, match="cannot write"):
        write_run(make_run(), tmp_path / "run")
    assert (tmp_path / "run").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(path, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(folder_module, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_run(make_run(), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_replaced_by_a_newer_one(tmp_path):
    write_run(make_run(10), tmp_path / "run")
    write_run(make_run(20), tmp_path / "run")
    assert load_run(tmp_path / "run").samples["pieces"].max() == 21
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_old_result_is_put_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    write_run(make_run(10), tmp_path / "run")
    rename, refused = Path.rename, []

    def failing(self, target):
        if self.name.startswith(".partial") and not Path(target).exists():
            refused.append(self.name)
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError, match="Input/output error"):
        write_run(make_run(20), tmp_path / "run")
    monkeypatch.undo()
    assert len(refused) == 1
    assert load_run(tmp_path / "run").samples["pieces"].max() == 11


def test_an_interrupt_between_the_two_renames_puts_the_old_result_back(tmp_path, monkeypatch):
    write_run(make_run(10), tmp_path / "run")
    rename = Path.rename

    def interrupted(self, target):
        if self.name.startswith(".partial") and not Path(target).exists():
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_run(make_run(20), tmp_path / "run")
    monkeypatch.undo()
    assert load_run(tmp_path / "run").samples["pieces"].max() == 11


def test_of_two_processes_with_the_same_run_none_is_in_the_way_of_the_other(tmp_path, monkeypatch):
    rename, others = Path.rename, []

    def overtaken(self, target):
        if self.name.startswith(".partial") and not others:
            others.append("other")
            write_run(make_run(30), tmp_path / "run")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    write_run(make_run(20), tmp_path / "run")
    assert load_run(tmp_path / "run").samples["pieces"].max() == 21
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_leftovers_of_a_dead_process_are_removed(tmp_path):
    dead = tmp_path / f".partial-{host_name()}-{dead_pid()}-run-abc"
    dead.mkdir()
    (dead / "samples.parquet").write_text("half")
    write_run(make_run(), tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("owner", [f"{host_name()}-{os.getppid()}", "elsewhere-1"])
def test_the_work_of_a_living_process_or_another_host_is_left_alone(tmp_path, owner):
    alive = tmp_path / f".partial-{owner}-run-abc"
    alive.mkdir()
    write_run(make_run(), tmp_path / "run")
    assert alive.is_dir()


def test_a_result_that_a_dead_process_was_replacing_is_put_back(tmp_path):
    write_run(make_run(10), tmp_path / "run")
    hidden = tmp_path / f".previous-{host_name()}-{dead_pid()}-run-abc"
    (tmp_path / "run").rename(hidden)
    clean(tmp_path)
    assert load_run(tmp_path / "run").samples["pieces"].max() == 11


def test_a_killed_process_leaves_no_result(tmp_path):
    script = (
        "import os, sys; from pathlib import Path\n"
        "from test_folder import make_run, folder_module, write_run\n"
        "write = folder_module.write_bytes\n"
        "def killed(path, data):\n"
        "    write(path, data)\n"
        "    if path.name == 'manifest.json': os._exit(9)\n"
        "folder_module.write_bytes = killed\n"
        "write_run(make_run(), Path(sys.argv[1]))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 9
    assert not (tmp_path / "run").exists()
    assert [path.name[:8] for path in tmp_path.iterdir()] == [".partial"]
    write_run(make_run(), tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


# --- reading what is not a run ---------------------------------------------------------------


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RunFailed, match="none is not a run: there is no such folder"):
        load_run(tmp_path / "none")


def test_a_folder_that_is_not_a_run_is_named(tmp_path):
    with pytest.raises(RunFailed, match=r"is not a run: it has no manifest\.json"):
        load_run(tmp_path)


def test_a_folder_of_runs_says_where_they_are(kept):
    above = kept.folder.parent
    with pytest.raises(RunFailed, match=re.escape(f"manifest.json; there are in it: {above}/*")):
        load_run(above)


@pytest.mark.parametrize("name", ["samples.parquet", "summary.parquet", "scenario.toml"])
def test_a_missing_file_is_named(kept, name):
    (kept.folder / name).unlink()
    with pytest.raises(RunFailed, match=f"{name} is missing; run it again with --force"):
        load_run(kept.folder)


@pytest.mark.parametrize("name", ["samples.parquet", "summary.parquet", "scenario.toml"])
def test_a_truncated_file_is_named(kept, name):
    data = (kept.folder / name).read_bytes()
    (kept.folder / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(RunFailed, match=f"{name} is truncated or changed"):
        load_run(kept.folder)


def test_a_changed_table_is_named(kept):
    path = kept.folder / "samples.parquet"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(RunFailed, match=r"samples\.parquet was changed after the run"):
        load_run(kept.folder)


def test_a_table_that_is_none_is_named_even_with_its_hash(kept):
    data = b"not parquet"
    (kept.folder / "samples.parquet").write_bytes(data)
    manifest = json.loads((kept.folder / "manifest.json").read_text())
    digest = hashlib.sha256(data).hexdigest()
    manifest["files"]["samples.parquet"] = {"bytes": len(data), "sha256": digest}
    (kept.folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunFailed, match=r"is not a complete run: .*[Pp]arquet"):
        load_run(kept.folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"files": {}, "format": 99}'])
def test_a_broken_manifest_is_named(kept, text):
    (kept.folder / "manifest.json").write_text(text)
    with pytest.raises(RunFailed, match=r"manifest\.json"):
        load_run(kept.folder)


# --- the manifest ----------------------------------------------------------------------------


def test_the_manifest_says_where_a_run_came_from(kept):
    manifest = kept.manifest
    assert manifest["scenario"] == "h3/fdr-8"
    assert manifest["started"] == "2026-01-02T03:04:05+00:00"
    assert (manifest["simulated_s"], manifest["events"], manifest["wall_s"]) == (2.5, 7, 0.5)
    assert {card["role"] for card in manifest["cards"]} == {"card", "publisher", "broker"}
    assert [one["name"] for one in manifest["reference"]] == ["h3_message_rates.csv"]
    assert manifest["host"]["packages"]["numpy"]
    assert json.loads(json.dumps(manifest)) == manifest


def test_the_hash_of_a_card_changes_with_any_parameter():
    link = load("h3/fdr-8").system.card
    other = load("h3/fdr-8", ['system.card.latency="21 us"']).system.card
    assert card_hash(link) == card_hash(load("h3/fdr-16").system.card)
    assert card_hash(link) != card_hash(other)


def test_outside_a_checkout_there_is_no_commit(tmp_path):
    assert git_state(tmp_path) is None


def test_a_checkout_without_a_commit_has_none(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert git_state(tmp_path) is None


def test_a_checkout_has_its_commit_and_says_whether_it_is_dirty(tmp_path):
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    git = ["git", "-C", str(tmp_path), *identity]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    clean = git_state(tmp_path)
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    (tmp_path / "new").write_text("")
    assert git_state(tmp_path)["dirty"] is True
