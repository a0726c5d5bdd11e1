"""Is a file written whole, where it is meant to be, and without harm to what is no file?"""

import ctypes
import errno
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from dvsim import atomic
from dvsim.atomic import clean, host_name, whole_folder, whole_folders, write_file


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "page"
    path.write_bytes(b"old and longer")
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page"
    path.write_bytes(b"old")

    def full(partial, data):
        partial.write_bytes(data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link_and_its_file_is_written(tmp_path, there):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "page", tmp_path / "link"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_takes_the_bytes_and_stays_a_pipe(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_file(pipe, b"page")
    reader.join(10)
    assert got == [b"page"]
    assert pipe.is_fifo()


def test_a_link_to_a_device_leaves_the_device_alone(tmp_path):
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    write_file(link, b"page")
    assert link.is_symlink()
    assert link.is_char_device()


def test_folders_on_the_way_are_made(tmp_path):
    write_file(tmp_path / "a" / "b" / "page", b"page")
    assert (tmp_path / "a" / "b" / "page").read_bytes() == b"page"


def test_a_folder_is_no_place_for_a_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path, b"page")


def fill(partials):
    for partial in partials:
        (partial / "page").write_bytes(b"page")


@pytest.mark.parametrize("has_it", [True, False], ids=["refused", "absent"])
def test_without_syncfs_each_file_is_waited_for(tmp_path, monkeypatch, has_it):
    libc = SimpleNamespace(syncfs=lambda number: -1) if has_it else SimpleNamespace()
    waited = []
    monkeypatch.setattr(ctypes, "CDLL", lambda *args, **more: libc)
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.ENOSYS)
    monkeypatch.setattr(os, "fsync", lambda number: waited.append(os.fstat(number).st_ino))
    with whole_folders([tmp_path / "a", tmp_path / "b"]) as partials:
        fill(partials)
    pages = [tmp_path / name / "page" for name in "ab"]
    assert waited == [page.stat().st_ino for page in pages]


def test_a_disk_that_fails_in_the_end_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda *args, **more: SimpleNamespace(syncfs=lambda _: -1))
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EIO)
    with (
        pytest.raises(OSError, match="Input/output error"),
        whole_folders([tmp_path / "a"]) as partials,
    ):
        fill(partials)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("times", [1, 1000])
def test_a_folder_that_others_replace_at_this_moment_is_tried_again(tmp_path, monkeypatch, times):
    """Another process has put its folder there, and takes it away before ours can."""
    rename, left = Path.rename, [times]

    def overtaken(self, target):
        if self.name.startswith(".partial") and left[0]:
            left[0] -= 1
            raise OSError(errno.ENOTEMPTY, "Directory not empty")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    if times == 1:
        with whole_folder(tmp_path / "a") as partial:
            fill([partial])
        assert (tmp_path / "a" / "page").read_bytes() == b"page"
    else:
        with pytest.raises(OSError, match="keep replacing it"), whole_folder(tmp_path / "a"):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["a"] * (times == 1)


def test_what_a_process_of_somebody_else_writes_is_left_alone(tmp_path, monkeypatch):
    def refuse(pid, number):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "kill", refuse)
    theirs = tmp_path / f".partial-{host_name()}-1-run-abc"
    theirs.mkdir()
    (tmp_path / ".partial-short").mkdir()  # of nobody who writes here
    clean(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {theirs.name, ".partial-short"}


def test_what_another_process_removes_at_this_moment_is_no_failure(tmp_path, monkeypatch):
    """Both clean up after the same dead process, and the other one is quicker."""
    left = tmp_path / f".previous-{host_name()}-{2**22 + 1}-run-abc"  # no such process
    left.mkdir()
    (left / "page").write_bytes(b"page")
    exists = Path.exists

    def overtaken(self, **how):
        if self == tmp_path / "run" and left.is_dir():
            left.rename(tmp_path / "run")
            (tmp_path / "run").rename(tmp_path / "moved")
        return exists(self, **how)

    monkeypatch.setattr(Path, "exists", overtaken)
    clean(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["moved"]
