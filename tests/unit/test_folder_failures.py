"""A disk that fills, a process that dies: a kept run is whole, or it is not there."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kept_run import make_run

from dvsim.atomic import clean, host_name
from dvsim.errors import OutputError
from dvsim.study import folder as folder_module
from dvsim.study.store import load_result, write_result


def dead_pid():
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path, monkeypatch):
    write = folder_module.write_bytes

    def full(path, data):
        if path.name == "values.parquet":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, data)

    monkeypatch.setattr(folder_module, "write_bytes", full)
    with pytest.raises(OutputError, match=r"cannot write .*/run: No space left on device"):
        write_result(make_run(), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_result_that_was_there(tmp_path, monkeypatch):
    write_result(make_run(10), tmp_path / "run")

    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folder_module, "write_bytes", full)
    with pytest.raises(OutputError):
        write_result(make_run(20), tmp_path / "run")
    assert load_result(tmp_path / "run").sides["samples"]["pieces"].max() == 11
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*/file/h3/run: Not a directory"):
        write_result(make_run(), tmp_path / "file" / "h3" / "run")


def test_a_file_in_the_place_of_the_folder_is_not_replaced(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(OutputError, match="cannot write"):
        write_result(make_run(), tmp_path / "run")
    assert (tmp_path / "run").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(path, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(folder_module, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_result(make_run(), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_replaced_by_a_newer_one(tmp_path):
    write_result(make_run(10), tmp_path / "run")
    write_result(make_run(20), tmp_path / "run")
    assert load_result(tmp_path / "run").sides["samples"]["pieces"].max() == 21
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_old_result_is_put_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    write_result(make_run(10), tmp_path / "run")
    rename, refused = Path.rename, []

    def failing(self, target):
        if self.name.startswith(".partial") and not Path(target).exists():
            refused.append(self.name)
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError, match="Input/output error"):
        write_result(make_run(20), tmp_path / "run")
    monkeypatch.undo()
    assert len(refused) == 1
    assert load_result(tmp_path / "run").sides["samples"]["pieces"].max() == 11


def test_an_interrupt_between_the_two_renames_puts_the_old_result_back(tmp_path, monkeypatch):
    write_result(make_run(10), tmp_path / "run")
    rename = Path.rename

    def interrupted(self, target):
        if self.name.startswith(".partial") and not Path(target).exists():
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_result(make_run(20), tmp_path / "run")
    monkeypatch.undo()
    assert load_result(tmp_path / "run").sides["samples"]["pieces"].max() == 11


def test_of_two_processes_with_the_same_run_none_is_in_the_way_of_the_other(tmp_path, monkeypatch):
    rename, others = Path.rename, []

    def overtaken(self, target):
        if self.name.startswith(".partial") and not others:
            others.append("other")
            write_result(make_run(30), tmp_path / "run")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    write_result(make_run(20), tmp_path / "run")
    assert load_result(tmp_path / "run").sides["samples"]["pieces"].max() == 21
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_leftovers_of_a_dead_process_are_removed(tmp_path):
    dead = tmp_path / f".partial-{host_name()}-{dead_pid()}-run-abc"
    dead.mkdir()
    (dead / "samples.parquet").write_text("half")
    write_result(make_run(), tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("owner", [f"{host_name()}-{os.getppid()}", "elsewhere-1"])
def test_the_work_of_a_living_process_or_another_host_is_left_alone(tmp_path, owner):
    alive = tmp_path / f".partial-{owner}-run-abc"
    alive.mkdir()
    write_result(make_run(), tmp_path / "run")
    assert alive.is_dir()


def test_a_result_that_a_dead_process_was_replacing_is_put_back(tmp_path):
    write_result(make_run(10), tmp_path / "run")
    hidden = tmp_path / f".previous-{host_name()}-{dead_pid()}-run-abc"
    (tmp_path / "run").rename(hidden)
    clean(tmp_path)
    assert load_result(tmp_path / "run").sides["samples"]["pieces"].max() == 11


def test_a_killed_process_leaves_no_result(tmp_path):
    script = (
        "import os, sys; from pathlib import Path\n"
        "from kept_run import make_run, write_result\n"
        "from dvsim.study import folder as folder_module\n"
        "write = folder_module.write_bytes\n"
        "def killed(path, data):\n"
        "    write(path, data)\n"
        "    if path.name == 'manifest.json': os._exit(9)\n"
        "folder_module.write_bytes = killed\n"
        "write_result(make_run(), Path(sys.argv[1]))\n"
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
    write_result(make_run(), tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
