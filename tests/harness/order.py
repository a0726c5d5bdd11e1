"""In which order tests run: files that take longest come first, or any order at random.

Workers take whole files, one after the other, so that the longest first is what ends soonest.
How long each took is kept in durations.json; `--write-durations` measures anew.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

KEPT = Path(__file__).with_name("durations.json")
UNKNOWN_S = 5.0
"""A file that was not measured yet."""
FIRST = ("tests/emulator/test_builds.py",)
"""What they make, tests of other files use."""
measured: Counter[str] = Counter()


def add_options(parser: pytest.Parser) -> None:
    """Add the two options."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="files and tests at random")
    parser.addoption("--write-durations", action="store_true", help=f"renew {KEPT.name}")


def file_of(nodeid: str) -> str:
    """Return the file of a test."""
    return nodeid.partition("::")[0]


def durations() -> dict[str, float]:
    """Return the seconds that each file took."""
    return dict(json.loads(KEPT.read_text("utf-8"))) if KEPT.exists() else {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests in order; a file's stay together."""
    seed = config.getoption("--shuffle")
    found = sorted({file_of(item.nodeid) for item in items})
    if seed is None:
        known = durations()
        files = {file: (file not in FIRST, -known.get(file, UNKNOWN_S)) for file in found}
        items.sort(key=lambda item: files[file_of(item.nodeid)])
        return
    drawn = random.Random(seed)
    places = {file: drawn.random() for file in found}
    drawn.shuffle(items)
    items.sort(key=lambda item: places[file_of(item.nodeid)])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what each file takes."""
    measured[file_of(report.nodeid)] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep what was measured, of the files that were run."""
    if session.config.getoption("--write-durations") and not hasattr(session.config, "workerinput"):
        kept = {file: round(seconds, 1) for file, seconds in measured.items()}
        text = json.dumps(durations() | kept, indent=0, sort_keys=True)
        KEPT.write_text(text + "\n", "utf-8")
