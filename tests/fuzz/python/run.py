"""Fuzz the readers of dvsim for some time; one line of JSON for each target.

    python tests/fuzz/python/run.py --minutes 60 --only scenario

Hypothesis changes good cases, a round at a time. A case whose answer was not heard before joins
those that the next round changes, so the changes add up. What fails is made as small as it goes and
written to build/fuzz/crashes/TARGET; --keep adds the new answers' cases to the kept corpus.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from case_files import Files
    from targets import Target

ROOT = Path(__file__).resolve().parents[3]
CRASHES = ROOT / "build" / "fuzz" / "crashes"
ROUND = 200  # cases between two looks at the clock
POOL = 400  # cases that are changed; beyond it new ones take the place of old ones
SLOW_S = 60  # of processor time, from which on a case is taken for one that never ends
MEMORY = 4 << 30  # bytes of address space that a case may take


class Ended(BaseException):
    """Somebody wants the run to end."""


class TooSlow(BaseException):
    """A case takes longer than any may."""


class Fuzzing:
    """One target while it is fuzzed."""

    def __init__(self, name: str, seed: int) -> None:
        from case_files import kept
        from targets import CORPUS, target_of

        self.name = name
        self.target: Target = target_of(name)
        self.corpus = CORPUS / name
        self.pool: list[Files] = [*self.target.seeds(), *(files for _, files in kept(self.corpus))]
        self.heard: set[str] = set()
        self.new: dict[str, Files] = {}
        self.executions = 0
        self.crashes: set[str] = set()
        self.random = random.Random(seed)
        for files in self.pool:
            self.try_one(files)

    def try_one(self, files: Files) -> None:
        """Read a case; raise what the reader does not promise."""
        self.executions += 1
        with tempfile.TemporaryDirectory(prefix="dvsim-fuzz-") as folder, _watched():
            try:
                answer = self.target.read(files, Path(folder))
            except self.target.refusals as error:
                answer = f"{type(error).__name__} {error}".replace(folder, "")
        shape = shape_of(answer)
        if shape not in self.heard:
            self.heard.add(shape)
            self.new[shape] = files

    def round(self) -> None:
        """Read some changed cases; note what fails."""
        from hypothesis import HealthCheck, Phase, given, seed, settings

        @seed(self.random.getrandbits(64))
        @settings(
            max_examples=ROUND,
            deadline=None,
            database=None,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(self.target.changed(list(self.pool)))
        def some(files: Files) -> None:
            last.append(files)
            del last[:-1]
            self.try_one(files)

        last: list[Files] = []
        self.new = {}
        try:
            some()
        except BaseException as error:  # this is what is looked for
            if ended:
                raise Ended from error
            self._note(last[-1], error)
        for files in self.new.values():
            if len(self.pool) < POOL:
                self.pool.append(files)
            else:
                self.pool[self.random.randrange(POOL)] = files

    def _note(self, files: Files, error: BaseException) -> None:
        from case_files import pack

        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "dvsim" in f.filename), frames[-1])
        found = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
        case = pack(files)
        folder = CRASHES / self.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / hashlib.sha256(case).hexdigest()[:12]
        path.write_bytes(case)
        if found not in self.crashes:
            self.crashes.add(found)
            print(f"{self.name}: {found}: {path}", file=sys.stderr)
            error.__notes__ = []  # the case as a Python literal: too long to be read
            traceback.print_exception(error, limit=-6)

    def keep(self) -> None:
        """Add a small case of each new answer to the corpus."""
        from case_files import kept, pack

        self.corpus.mkdir(parents=True, exist_ok=True)
        there = [pack(files) for _, files in kept(self.corpus)]
        for case in map(pack, self.pool):
            if case not in there and len(case) < 2000:
                (self.corpus / hashlib.sha256(case).hexdigest()[:12]).write_bytes(case)


def shape_of(answer: str) -> str:
    """Return an answer without what is of this case alone: numbers, names in quotes.

    Examples
    --------
    >>> shape_of("a.toml:3: 'x' is 12, not 1.5")
    "a.toml:0: '' is 0, not 0"
    """
    return re.sub(r"[\d.]*\d", "0", re.sub(r"'[^'\n]*'", "''", answer))[:300]


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """Raise TooSlow if what is done takes too long."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SLOW_S)
    try:
        with warnings.catch_warnings(action="error"):  # as in the tests
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def fuzz(name: str, minutes: float, seed: int, keep: bool) -> int:
    """Fuzz a target, print what came of it and return how many defects there are."""
    began = time.monotonic()
    fuzzing = Fuzzing(name, seed)
    with contextlib.suppress(Ended):
        while not ended and time.monotonic() - began < minutes * 60:
            fuzzing.round()
    if keep:
        fuzzing.keep()
    said: dict[str, Any] = {"target": name, "executions": fuzzing.executions}
    said |= {"features": len(fuzzing.heard), "seconds": round(time.monotonic() - began, 1)}
    print(json.dumps(said | {"crashes": len(fuzzing.crashes)}), flush=True)
    return len(fuzzing.crashes)


ended = False


def _end(number: int, frame: FrameType | None) -> None:
    global ended  # noqa: PLW0603
    ended = True  # what is read may swallow the exception
    raise Ended


def main() -> int:
    """Do what the command line says."""
    from targets import MODULES

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name the targets")
    parser.add_argument("--minutes", type=float, default=1.0, help="of each target")
    parser.add_argument("--only", choices=MODULES, metavar="TARGET")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="add to the kept corpus")
    asked = parser.parse_args()
    if asked.list:
        print(*MODULES, sep="\n")
        return 0
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    names = [asked.only] if asked.only else list(MODULES)
    return min(1, sum(fuzz(name, asked.minutes, asked.seed, asked.keep) for name in names))


if __name__ == "__main__":
    sys.exit(main())
