"""What several tests need and one of them makes: builds, runs, certificates.

All workers of a test run share one store, a folder that the controller creates and removes. The
first test that asks for a key makes what stands behind it; others wait for it and read it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

STORE = "DVSIM_TESTS_STORE"
MADE_HERE = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Create the store, unless the controller has, or the test that runs these tests."""
    config.stash[MADE_HERE] = STORE not in os.environ
    if config.stash[MADE_HERE]:
        os.environ[STORE] = tempfile.mkdtemp(prefix="dvsim-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the store."""
    if config.stash[MADE_HERE]:
        shutil.rmtree(os.environ.pop(STORE), ignore_errors=True)


def once(key: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that `make` has filled, one for all tests of a run that ask for `key`.

    Tests read what is in the folder and leave it as it is. If `make` raises, the next test that
    asks tries again.
    """
    store = Path(os.environ[STORE])
    folder = store / hashlib.sha256(key.encode()).hexdigest()[:16]
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder.with_suffix(".done")
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.write_text(key)
    return folder
