"""Has the core, or the emulated card, become faster or slower? Timed in turns with a revision.

The models of both are compiled by the same compiler with the same flags, and run the same kernels
of `kernels/models.c`, each as often as the other and in turns, with each instruction set that this
machine has. What counts is the processor's time, so what others run meanwhile changes little: a
gain or a loss is never a matter of the machine. That both delivered about as many packets is
checked, and that each always delivers the same. Of the card it is the rows of `emulator.py`, by the
emulators of both trees; card-storm is timed mode with 16, 32 and 128 cards.

    bench/against.py REVISION [KERNEL ...]      such as: HEAD~1 switch-1024x8 card-put card-storm
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import instructions
from instructions import MODELS, build, compile_c, compile_objects, flags_of
from rows import faster, row

import emulator

TURNS = 5
CHANCE = 1.05  # of two revisions that draw other numbers, one may deliver so much more
SIMDS = ("avx512", "avx2", "portable")
KERNELS = (
    "switch-16x4", "switch-64x4", "switch-64x4-queue", "switch-1024x8", "switch-65536x16",
    "switch-16x4x256", "network", "network-65536",
)  # fmt: skip
CARD = {f"card-{one.test}": [one] for one in (*emulator.ROWS, emulator.ANY)}
CARD["card-storm"] = [one for one in emulator.TIMED if one.cards >= 16]


def extract(name: str, folder: Path) -> None:
    """Put the C sources of a revision into a folder."""
    root = MODELS.parent
    archive = ["git", "-C", str(root), "archive", "--format=tar", name, "models", "emulator"]
    done = subprocess.run(archive, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"against.py: no revision '{name}': {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        tar.extractall(folder, filter="data")


def revision(folder: Path) -> Path:
    """Compile the program with the models of a revision, and return it."""
    models = folder / "models"
    flags = [flag for flag in flags_of("models") if flag != f"-I{MODELS}"] + [f"-I{models}"]
    sources = [instructions.HERE / "kernels" / "models.c", *sorted(models.glob("*/*.c"))]
    compile_c(compile_objects(sources, folder / "objects", flags), folder / "program", flags)
    return folder / "program"


def timed(program: Path, kernel: str, simd: str) -> tuple[str, float, int]:
    """Return the instruction set that was used, seconds of a turn and packets delivered."""
    env = {"PATH": os.defpath, "DVSIM_SIMD": simd}
    command = [str(program), kernel, "time"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    _, used, nanoseconds, delivered = done.stdout.split()
    return used, float(nanoseconds) / 1e9, int(delivered)


def compare(now: Path, before: Path, kernel: str, simd: str, against: str) -> None:
    """Time a kernel in turns, and print the ratio."""
    both = [[timed(program, kernel, simd) for program in (now, before)] for _ in range(TURNS)]
    if both[0][0][0] != simd:
        return  # not on this machine
    delivered = [{pair[k][2] for pair in both} for k in range(2)]
    fewest, most = min(set.union(*delivered)), max(set.union(*delivered))
    if max(map(len, delivered)) > 1 or most > CHANCE * fewest:
        sys.exit(f"against.py: {kernel}: other packets delivered: {delivered}")
    ours, theirs = ([pair[k][1] for pair in both] for k in range(2))
    faster(f"{kernel}, {simd}, {min(ours) * 1e6:,.1f} us a slot", against, ours, theirs)


def card_of(root: Path, folder: Path) -> emulator.Bench:
    """Build the emulator of a tree into a folder, and return what runs programs on it."""
    folder.mkdir()
    script, prefix = root / "emulator" / "build.py", folder / "prefix"
    subprocess.run([sys.executable, str(script), str(prefix)], check=True)
    return emulator.Bench(prefix, folder)


def compare_card(now: emulator.Bench, before: emulator.Bench, name: str, against: str) -> None:
    """Measure the rows of a kernel of the card in turns, and print the ratios."""
    for one in CARD[name]:
        pairs = [(now.figure(one), before.figure(one)) for _ in range(TURNS)]
        best, better = (min, "less") if one.less_is_better else (max, "more")
        ratio = best(own for own, _ in pairs) / best(other for _, other in pairs)
        spread = [own / other for own, other in pairs]
        row(f"card: {one.name}, {one.unit}", against, ratio, better, spread)


def main() -> None:
    """Compile both, and compare all kernels or those that are named."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    name, *asked = sys.argv[1:]
    known = (*KERNELS, *CARD)
    if unknown := [kernel for kernel in asked if kernel not in known]:
        sys.exit(f"against.py: no kernel '{unknown[0]}'; there are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as text:
        folder, then = Path(text), Path(text) / "before"
        extract(name, then)
        if kernels := [kernel for kernel in asked or known if kernel in KERNELS]:
            now, before = build(folder, "models"), revision(then)
            for kernel in kernels:
                for simd in SIMDS:
                    compare(now, before, kernel, simd, f"the core of {name}")
        if cards := [kernel for kernel in asked or known if kernel in CARD]:
            ours, theirs = card_of(MODELS.parent, folder / "card"), card_of(then, then / "card")
            for kernel in cards:
                compare_card(ours, theirs, kernel, f"the card of {name}")


if __name__ == "__main__":
    main()
