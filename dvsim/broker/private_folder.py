"""A folder that nobody else can read, and that goes with its owner.

The owner holds a lock on a file in it, which the kernel lets go when the owner ends, however it
ends. What an owner that was killed has left in the folder for temporary files is removed by the
next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

from dvsim.errors import OutputError

PREFIX = "dvsim-broker-"
LOCK = "lock"
ATTEMPTS = 100  # to remove a folder, 10 ms apart


class PrivateFolder:
    """A new folder; or one that exists, is empty, and stays when its content has gone.

    Args:
        given: Its path; None for a new one among the temporary files.
        prefix: How the name of a new one begins; those that are left are found by it.
    """

    def __init__(self, given: Path | None = None, *, prefix: str = PREFIX) -> None:
        self._lock: int | None = None
        try:
            self._kept = given is not None and given.exists()
            if given is None:
                remove_left(prefix)
                given = Path(tempfile.mkdtemp(prefix=prefix))
            else:
                given.mkdir(mode=0o700, parents=True, exist_ok=True)
                if any(given.iterdir()):
                    raise OutputError(f"'{given}' is not empty")
            self.path = given.resolve()
            self._lock = _locked(self.path)
        except OSError as error:
            raise unusable(given, error) from error

    def close(self) -> None:
        """Remove it, and give back the lock, once."""
        if self._lock is None:
            return
        if self._kept:
            with contextlib.suppress(FileNotFoundError):
                _empty(self.path)
        else:
            _remove(self.path)
        os.close(self._lock)
        self._lock = None


def unusable(folder: Path | None, error: OSError) -> OutputError:
    """Return the error of a folder that cannot be made, read or written."""
    reason = "it is no folder" if isinstance(error, FileExistsError) else error.strerror
    return OutputError(f"cannot use '{folder}' for nodes: {reason}")


def remove_left(prefix: str = PREFIX) -> None:
    """Remove folders among the temporary files whose owners have gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not folder.is_symlink() and folder.stat().st_uid == os.getuid():
                    _remove(folder)
            finally:
                os.close(lock)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):  # the name is taken, or the folder has gone
        folder = folder.rename(folder.with_name(f"{folder.name}-going"))
    for _ in range(ATTEMPTS):  # a program that was in the middle of a call may make one more file
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.01)


def _locked(folder: Path) -> int:
    new = folder / f".{LOCK}"
    lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    new.rename(folder / LOCK)
    return lock
