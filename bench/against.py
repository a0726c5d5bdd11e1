"""Has the core become faster or slower? It is timed in turns with that of another revision.

The models of both are compiled by the same compiler with the same flags, and run the same kernels
of `kernels/models.c`, each as often as the other and in turns, with each instruction set that this
machine has: a gain or a loss is never a matter of the machine. That both delivered the same
packets is checked.

    bench/against.py REVISION [KERNEL ...]      such as: HEAD~1 switch-1024x8
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
from rows import faster

TURNS = 5
SIMDS = ("avx512", "avx2", "portable")
KERNELS = (
    "switch-64x4", "switch-64x4-queue", "switch-1024x8", "switch-65536x16", "switch-16x4x256",
    "network",
)  # fmt: skip


def revision(name: str, folder: Path) -> Path:
    """Compile the program with the models of a revision, and return it."""
    root = MODELS.parent
    archive = ["git", "-C", str(root), "archive", "--format=tar", name, "models"]
    done = subprocess.run(archive, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"against.py: no revision '{name}': {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        tar.extractall(folder, filter="data")
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
    if len(delivered := {one[2] for pair in both for one in pair}) > 1:
        sys.exit(f"against.py: {kernel}: other packets delivered: {delivered}")
    ours, theirs = ([pair[k][1] for pair in both] for k in range(2))
    faster(f"{kernel}, {simd}, {min(ours) * 1e6:,.1f} us a slot", against, ours, theirs)


def main() -> None:
    """Compile both, and compare all kernels or those that are named."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    name, *kernels = sys.argv[1:]
    if unknown := [kernel for kernel in kernels if kernel not in KERNELS]:
        sys.exit(f"against.py: no kernel '{unknown[0]}'; there are {', '.join(KERNELS)}")
    with tempfile.TemporaryDirectory() as folder:
        now, before = build(Path(folder), "models"), revision(name, Path(folder) / "before")
        for kernel in kernels or KERNELS:
            for simd in SIMDS:
                compare(now, before, kernel, simd, f"the core of {name}")


if __name__ == "__main__":
    main()
