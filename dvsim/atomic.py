"""Folders and files that are written whole or not at all.

The content of a folder goes into a hidden sibling, ``.partial-HOST-PID-NAME-…``, which takes the
name of the folder when it is complete. A folder that is replaced waits as ``.previous-…`` until
then. What a dead process left behind is removed, or put back, by the next one that writes beside
it.
"""

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from dvsim.errors import OutputError

_PARTIAL = ".partial"
_PREVIOUS = ".previous"
_ATTEMPTS = 100


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder to write into; on leaving, it takes the place of `folder`.

    If the block raises, or the process dies in it, `folder` stays what it was.

    Raises:
        OSError: If the parent cannot be made or written, or `folder` cannot be replaced.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    clean(folder.parent)
    partial = _sibling(folder, _PARTIAL)
    try:
        yield partial
        _swap(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextlib.contextmanager
def whole_folders(folders: Sequence[Path]) -> Iterator[list[Path]]:
    """Give new folders to write into, as `whole_folder` does for one.

    On leaving, everything that was written is waited for together, then each takes its place. If
    the process dies between two, the others stay what they were.

    Raises:
        OSError: If a parent cannot be made or written, or a folder cannot be replaced.
    """
    partials: list[Path] = []
    for parent in dict.fromkeys(folder.parent for folder in folders):
        parent.mkdir(parents=True, exist_ok=True)
        clean(parent)
    try:
        for folder in folders:
            partials.append(_sibling(folder, _PARTIAL))
        yield partials
        _wait_for_disk(partials)
        for partial, folder in zip(partials, folders, strict=True):
            _swap(partial, folder)
    finally:
        for partial in partials:
            if partial.exists():
                shutil.rmtree(partial, ignore_errors=True)


def _wait_for_disk(folders: Sequence[Path]) -> None:
    """Wait until all files of folders are on their disks.

    Linux writes out a whole file system in about the time of three files; elsewhere it is one file
    after the other.
    """
    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    for parent in dict.fromkeys(folder.parent for folder in folders):
        inside = [folder for folder in folders if folder.parent == parent]
        if syncfs is None or not _sync_all(syncfs, parent):
            for path in [path for folder in inside for path in folder.iterdir()]:
                with path.open("rb") as file:
                    os.fsync(file.fileno())


def _sync_all(syncfs: Callable[[int], int], folder: Path) -> bool:
    number = os.open(folder, os.O_RDONLY)
    try:
        if syncfs(number) == 0:
            return True
        error = ctypes.get_errno()
    finally:
        os.close(number)
    if error in (errno.ENOSYS, errno.EBADF):
        return False
    raise OSError(error, os.strerror(error), str(folder))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a new file and wait until it is on the disk (a full disk may only show then)."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_file(path: Path, data: bytes) -> None:
    """Write a file, or replace it at once by a whole new one; folders on the way are made.

    A symbolic link stays one: the file that it leads to is written. What is there and is no file,
    such as ``/dev/stdout`` or a named pipe, takes the bytes and is never replaced.

    Raises:
        OSError: If it cannot be written. A file that was there before is still there then.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as device:  # refuses a folder
            device.write(data)
        return
    final = Path(os.path.realpath(path))
    _make_parent(final)
    partial = final.with_name(f"{_PARTIAL}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        write_bytes(partial, data)
        partial.replace(final)
    finally:
        partial.unlink(missing_ok=True)


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error


def make_parent(path: Path) -> None:
    """Make the folder of a file that another program will write."""
    try:
        _make_parent(path)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write {path}: {error.strerror or error}")


def write_output(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, see `write_file`."""
    try:
        write_file(path, data)
    except OSError as error:
        raise _unwritable(path, error) from error


def check_place(path: Path, *, folder: bool = False) -> None:
    """Refuse a place where no file, or no folder, can be: before a run, not after it.

    Nothing is made, and a folder need not be writable: what is kept there may only be read.
    """
    try:
        if not folder and path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not folder and path.exists() and not path.is_file():
            return  # a device or a pipe, which is not tried
        target = Path(os.path.realpath(path))  # that of pathlib raises where links go round
        way = (target, *target.parents) if folder else target.parents
        around = next(outer for outer in way if outer.exists())
        if not around.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"'{around}' is not a directory")
        if not folder:
            with tempfile.TemporaryFile(dir=around):
                pass
    except OSError as error:
        raise _unwritable(path, error) from error


def clean(parent: Path) -> None:
    """Remove what dead processes of this host left in `parent`; give back a replaced result.

    A process that dies between the two renames of a replacement leaves the old result under a
    hidden name: if nothing has taken its place, it is put back.
    """
    for leftover in [*parent.glob(f"{_PREVIOUS}-*"), *parent.glob(f"{_PARTIAL}-*")]:
        kind, host, pid, name = _parse(leftover.name)
        if host != host_name() or not pid.isdigit() or _alive(int(pid)):
            continue
        final = parent / name
        if kind == _PREVIOUS and not final.exists() and _holds_something(leftover):
            with contextlib.suppress(OSError):
                leftover.rename(final)
        else:
            shutil.rmtree(leftover, ignore_errors=True)


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:  # another process that cleans beside this one was quicker
        return False


def _swap(partial: Path, folder: Path) -> None:
    aside: list[Path] = []
    try:
        for _ in range(_ATTEMPTS):
            try:
                partial.rename(folder)
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            previous = _sibling(folder, _PREVIOUS)
            try:
                folder.rename(previous)  # onto an empty folder, which it replaces
                aside.append(previous)
            except FileNotFoundError:  # another process is replacing it at this moment
                previous.rmdir()
        else:
            raise OSError(errno.EBUSY, "other processes keep replacing it")
    except BaseException:
        if aside and not folder.exists():
            aside.pop().rename(folder)
        raise
    finally:
        for previous in aside:
            shutil.rmtree(previous, ignore_errors=True)


def _sibling(folder: Path, kind: str) -> Path:
    owner = f"{host_name()}-{os.getpid()}"
    made = folder.parent / f"{kind}-{owner}-{folder.name}-{secrets.token_hex(4)}"
    made.mkdir()
    return made


def _parse(name: str) -> tuple[str, str, str, str]:
    parts = name.split("-")
    if len(parts) < 5:
        return parts[0], "", "", ""
    return parts[0], parts[1], parts[2], "-".join(parts[3:-1])


def host_name() -> str:
    """Return the name of this host, without dashes."""
    return socket.gethostname().replace("-", "_").replace("/", "_") or "localhost"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is somebody else's: it lives
        return True
    return True
