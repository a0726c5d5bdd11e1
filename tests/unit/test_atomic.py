"""Is a file written whole, where it is meant to be, and without harm to what is no file?"""

import os
import threading

import pytest

from dvsim.results import atomic
from dvsim.results.atomic import write_file


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
