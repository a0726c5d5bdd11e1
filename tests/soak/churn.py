"""Cards that join, leave and die by the thousand, beside two that stay: what is left of them?"""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from actors import STARTERS, Job, behind, compiled
from health import Health, Table

from dvsim.errors import RunFailed

STAYING, GUESTS = 2, 4
"""Guests at the same time."""
CARDS = STAYING + 2 * GUESTS
"""A card is free a moment after its program has ended."""
CODES = {"close": 0, "exit": 3, "kill": 128 + 9, "alarm": 128 + 14, "orphan": -9}
NO_CARD = 1
"""Exit code of a vicrun whose card has a program."""
LATEST_KILL_S = 0.1
LOOK_EVERY_S = 0.1
STUCK_S = 120.0


@dataclass
class Churned:
    """What came of it."""

    seconds: float
    ends: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    breaches: list[str] = field(default_factory=list)
    health: Health = field(default_factory=Health)

    def table(self) -> str:
        """Return it in a few lines."""
        ends = ", ".join(f"{count:,} {how}" for how, count in sorted(self.ends.items()))
        lines = [
            f"cards alone, {self.seconds:.0f} s: {self.ends.total():,} joined ({ends}); "
            f"{self.refused:,} found a card taken"
        ]
        for name, watch in sorted(self.health.longest().items()):
            first, last = watch.looks[0], watch.looks[-1]
            pairs = [f"{what} {a:,} {b:,}" for what, a, b in
                     zip(first._fields, first, last, strict=True)]  # fmt: skip
            lines.append(f"  {name:12}{', '.join(pairs)}")
        return "\n".join(lines)


class Guest:
    """A program that comes and goes; the vicrun of an orphan is killed after a moment."""

    def __init__(self, job: Job, program: Path, drawn: random.Random) -> None:
        self.how = drawn.choice(list(CODES))
        card = drawn.randrange(STAYING, CARDS)
        words = [str(program), self.how]
        self.starter = drawn.choice(list(STARTERS)) if drawn.random() < 1 / 3 else None
        words = words if self.starter is None else behind(self.starter, words)
        self.log = job.folder / f"guest{drawn.getrandbits(64):x}.log"
        self.process = job.join(card, words, self.log)
        self.begin_s = time.monotonic()
        self.kill_s = self.begin_s + drawn.uniform(0.0, LATEST_KILL_S)

    @property
    def codes(self) -> set[int]:
        """Return how its vicrun may end: 1 if a shell hides how, 0 if that was before vic_open."""
        code = CODES[self.how]
        hidden = {"kill": {1}, "exit": {1}, "alarm": {0, 1}}.get(self.how, set())
        behind = {"a shell": hidden, "a session of its own": {code & 127}}
        return {code} | behind.get(self.starter or "", set())

    def tend(self) -> bool:
        """Kill it when it is time; say whether it has ended."""
        now_s = time.monotonic()
        if self.process.poll() is None and self.how == "orphan" and now_s > self.kill_s:
            self.process.kill()
        if now_s > self.begin_s + STUCK_S:
            raise RunFailed(f"a program that was to '{self.how}' goes on for {STUCK_S:g} s")
        return self.process.poll() is not None


def churn(folder: Path, seconds: float, seed: int) -> Churned:
    """Let cards come and go for so long."""
    done, drawn = Churned(seconds), random.Random(f"{seed} churn")
    program = compiled("soak_churn", folder)
    job = Job(folder, CARDS, "--if-killed", "leave", "--set", "sram=8388608")
    staying = [
        job.join(card, [str(program), "stay"], folder / "churn.log") for card in range(STAYING)
    ]
    try:
        _run(job, program, staying, drawn, done)
        for process in staying:
            process.terminate()
        codes = [process.wait(STUCK_S) for process in staying]
        if any(codes):
            done.breaches.append(f"those who stayed ended with {codes}")
        code = job.end()
        if code != 0:
            done.breaches.append(f"the job of the churn ended with exit code {code}")
    finally:
        job.process.kill()
        job.process.wait()
    done.breaches += done.health.breaches()
    if (folder / "s").exists():
        done.breaches.append("the socket of the job is still there")
    return done


def _run(job: Job, program: Path, staying: list[subprocess.Popen[bytes]], drawn: random.Random,
         done: Churned) -> None:  # fmt: skip
    guests: list[Guest] = []
    end_s, look_s = time.monotonic() + done.seconds, 0.0
    while guests or time.monotonic() < end_s:
        now_s = time.monotonic()
        while now_s < end_s and len(guests) < GUESTS:
            guests.append(Guest(job, program, drawn))
        if now_s > look_s:
            look_s = now_s + LOOK_EVERY_S
            table = Table()
            pids = {f"stays {k}": table.below(s.pid, program.name) for k, s in enumerate(staying)}
            there = {name: pid for name, pid in pids.items() if pid is not None}
            done.health.again({"launcher": job.process.pid, **there})
        for guest in [guest for guest in guests if guest.tend()]:
            guests.remove(guest)
            code, said = guest.process.returncode, guest.log.read_text("utf-8")
            guest.log.unlink()
            if code == NO_CARD and " has a program" in said:
                done.refused += 1
            elif code in guest.codes:
                done.ends[guest.how] += 1
            else:
                done.breaches.append(
                    f"a program that was to '{guest.how}' ended with {code}, behind "
                    f"{guest.starter}, and said {said!r}"
                )
        time.sleep(0.002)
