"""Everything that can die dies, again and again: is every message there, is nothing leaked?

    python tests/soak/soak.py --minutes 10 --seed 1

runs the emulated path of the experiment (scene.py), kills, asks to end and freezes its programs and
brokers (chaos.py), lets all of it settle, and keeps the books (account.py). Then cards alone come
and go by the thousand (churn.py). With --hosts the same goes on over several hosts instead
(across.py), which needs root. Journals, logs and events.jsonl are in build/soak. Exit code 1 if
a promise was broken, with the ids of the messages; the same seed deals the same blows.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import across
import churn
from account import Faults, Verdict
from actors import READY_S
from scene import BROKERS, LOG, Scene

from dvsim.broker import Brokers
from dvsim.errors import DvsimError, RunFailed

ROOT = Path(__file__).parents[2]
MOST_MESSAGES = 1_500_000
"""Of a soak: what books and journals have room for, a hundred bytes each."""
TOLD_EVERY_S = 10.0
CHURN_SHARE = 0.15
MEMORY = 1 << 30
"""Bytes for each broker node."""


def soak(
    folder: Path,
    seconds: float,
    seed: int,
    *,
    rate: float = 1500.0,
    planted: Callable[[Scene], None] = lambda _: None,
) -> tuple[Scene, Verdict]:
    """Run the path for so long, and return it with what is to be said about it.

    `planted` may put something into it at the beginning: is it found?
    """
    rate = min(rate, MOST_MESSAGES / seconds)
    with Brokers(clusters=BROKERS, memory=MEMORY, progress=tell) as nodes:
        scene = Scene(folder, nodes, seed, rate)
        try:
            scene.wait(lambda: scene.chaos.calm, "everybody there")
            planted(scene)
            begin_s = told_s = time.monotonic()
            scene.chaos.begin(seconds)
            while not scene.chaos.over:
                if time.monotonic() > begin_s + seconds + READY_S:
                    raise RunFailed(f"not back after {READY_S} s: {', '.join(scene.chaos.late)}")
                scene.tick(dealing=True)
                if time.monotonic() > told_s + TOLD_EVERY_S:
                    told_s = time.monotonic()
                    scene.read()
                    tell(f"{told_s - begin_s:.0f} of {seconds:.0f} s: {scene.chaos.dealt.total()} "
                         f"blows, {scene.books.confirmed:,} messages confirmed, "
                         f"{scene.books.consumed_once:,} consumed")  # fmt: skip
            tell("settling")
            broken = []
            try:
                scene.settle()
                code = scene.job.end()
                if code != 0:
                    broken.append(f"the job ended with exit code {code}")
            except DvsimError as error:
                broken.append(str(error))
                scene.read()
            verdict = scene.books.judge(Faults(scene.chaos.faults, scene.known_to()))
            verdict.breaches += broken + scene.health.breaches()
            return scene, verdict
        finally:
            scene.chaos.close()
            scene.close()


def tell(text: str) -> None:
    """Say something on stderr."""
    print(f"soak: {text}", file=sys.stderr, flush=True)


def table(scene: Scene, verdict: Verdict) -> str:
    """Return what was done, and what came of it."""
    kinds = ("kill", "kill-join", "term", "stop")
    by_target: dict[str, Counter[str]] = {}
    for (target, kind), count in scene.chaos.dealt.items():
        by_target.setdefault(target, Counter())[kind] += count
    lines = [f"{'blows':24}" + "".join(f"{kind:>11}" for kind in kinds)]
    lines += [f"  {target:22}" + "".join(f"{by_target[target][kind]:11,}" for kind in kinds)
              for target in sorted(by_target)]  # fmt: skip
    lines += ["", "messages"] + [
        f"  {what:30}{count:>12,}" for what, count in verdict.count.items()
    ]
    lost = sum(fault.kind == "lost" for fault in scene.chaos.faults)
    more = {"warnings of bridges, at least": lost, "subscriptions refused": scene.books.refusals,
            "lines of journals cut short": scene.torn}  # fmt: skip
    lines += [f"  {what:30}{count:>12,}" for what, count in more.items()]
    lines += ["", f"{'longest lives':24}{'s':>6}{'private KiB':>16}{'shared KiB':>16}"
                  f"{'descriptors':>13}{'threads':>9}{'memory files':>14}"]  # fmt: skip
    for name, watch in sorted(scene.health.longest().items()):
        pairs = [f"{a:,} {b:,}" for a, b in zip(watch.looks[0], watch.looks[-1], strict=True)]
        lines.append(f"  {name:22}{watch.life_s:6.0f}{pairs[0]:>16}{pairs[1]:>16}"
                     f"{pairs[2]:>13}{pairs[3]:>9}{pairs[4]:>14}")  # fmt: skip
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="soak.py", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long [10]")
    parser.add_argument("--seed", type=int, default=1, help="what happens to whom [1]")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "soak",
                        help="folder of journals and logs, made anew [build/soak]")  # fmt: skip
    parser.add_argument("--hosts", action="store_true", help="cards on several hosts (across.py)")
    asked = parser.parse_args(arguments)
    if not 0.1 <= asked.minutes <= 24 * 60:
        parser.error(f"--minutes: {asked.minutes:g} is not within 0.1 .. 1440")
    strange = asked.out.is_dir() and any(asked.out.iterdir()) and not (asked.out / LOG).exists()
    if strange or asked.out.is_file():
        parser.error(f"--out: '{asked.out}' is, or holds, something that is not of a soak")
    shutil.rmtree(asked.out, ignore_errors=True)
    asked.out.mkdir(parents=True)
    (asked.out / LOG).touch()
    seconds = 60.0 * asked.minutes
    try:
        if asked.hosts:
            scene, verdict = across.soak(asked.out, seconds, asked.seed, told=tell)
            return said(asked, [across.table(scene, verdict)], verdict.breaches)
        scene, verdict = soak(asked.out, (1 - CHURN_SHARE) * seconds, asked.seed)
        churned = churn.churn(asked.out, CHURN_SHARE * seconds, asked.seed)
    except DvsimError as error:
        tell(f"{error}; seed {asked.seed}, logs in '{asked.out}'")
        return 1
    except KeyboardInterrupt:
        return 130
    breaches = [*verdict.breaches, *churned.breaches]
    return said(asked, [table(scene, verdict), churned.table()], breaches)


def said(asked: argparse.Namespace, tables: Sequence[str], breaches: Sequence[str]) -> int:
    """Print what came out, and return the exit code."""
    print(*tables, sep="\n\n")
    for breach in breaches:
        print(f"BROKEN: {breach}")
    count = f"{len(breaches)} promises" if len(breaches) > 1 else f"{len(breaches) or 'no'} promise"
    print(f"\nseed {asked.seed}, {asked.minutes:g} min: {count} broken")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
