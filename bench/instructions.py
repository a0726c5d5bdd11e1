"""Have the hot loops become slower? Instructions, counted by valgrind, beside those that are kept.

Time depends on the machine and on what else it does; how many instructions a loop takes does not.
Each kernel of `kernels/models.c` and `kernels/libvic.c` runs on one thread, with an environment of
its own, and what happens inside of its function `counted` is counted. The instruction set of the
switch is forced: the portable loops, and those for AVX2; valgrind knows no AVX-512. A kernel whose
instruction set this machine lacks is left out, which is said. Both programs are compiled as dvsim
is, models with -O3 and libvic with -O2.

`instructions.json` says which compiler made the kept counts. By the same one a kernel may differ by
3 %, fewer too, so that what was gained is kept. Another one makes other code of all loops: then
each is held against what has become of the middle one, and may take 50 % more than that.

    bench/instructions.py [--update]

Exit code 1: a kernel differs, and --update was not there to keep the counts of now.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "emulator"))
from build import INCLUDES, MODELS, compile_c, compile_objects, compiler, libvic_sources

HERE = Path(__file__).resolve().parent
KEPT = HERE / "instructions.json"
PROGRAMS = ("models", "libvic")
SAME, OTHER = 0.03, 0.5
SWITCH = ("switch-16x4", "switch-64x4", "switch-64x4-queue", "switch-1024x8", "network")
RECEIVER = ("receive-8", "receive-8192")
LIBVIC = ("put", "send", "surprise", "message-8", "envelope")


class Kernel(NamedTuple):
    """A loop of one of the two programs, and the instruction set that it is counted with."""

    program: str
    name: str
    simd: str = ""

    def __str__(self) -> str:
        return " ".join(word for word in self if word)


KERNELS = (
    *(Kernel("models", name, simd) for simd in ("portable", "avx2") for name in SWITCH),
    *(Kernel("models", name) for name in RECEIVER),
    *(Kernel("libvic", name) for name in LIBVIC),
    Kernel("libvic", "message-8192", "avx2"),
)


def made_by() -> str:
    """Return the compiler and its version, and what it compiles for."""
    ask = [*compiler(), "-dumpfullversion", "-dumpversion"]
    version = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    about = subprocess.run([*compiler(), "--version"], check=True, capture_output=True, text=True)
    return f"{'clang' if 'clang' in about.stdout else 'gcc'} {version}, {platform.machine()}"


def flags_of(program: str) -> list[str]:
    """Return the flags of the compiler for a program."""
    more = ["-O3", f"-I{MODELS}"] if program == "models" else ["-O2", *INCLUDES]
    return ["-std=c11", "-pthread", *more]


def objects(folder: Path, program: str) -> list[Path]:
    """Compile the sources of a program, and return what is made of them."""
    sources = sorted(MODELS.glob("*/*.c")) if program == "models" else libvic_sources()
    return compile_objects([HERE / "kernels" / f"{program}.c", *sources], folder, flags_of(program))


def build(folder: Path, program: str) -> Path:
    """Compile a program, and return it; its objects are kept beside it."""
    made = folder / program
    compile_c(objects(folder / f"{program}-objects", program), made, flags_of(program))
    return made


def count(made: Path, kernel: Kernel) -> int | None:
    """Return the instructions of one turn of a kernel; None: it has no such instruction set."""
    if (valgrind := shutil.which("valgrind")) is None:
        sys.exit("instructions.py: there is no valgrind; tests/install-packages installs it")
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += ["--collect-atstart=no", "--toggle-collect=counted", str(made), kernel.name]
    # nothing else: the size of the environment moves the stack, and VIC_ variables are of a job
    env = {"PATH": os.defpath, "LD_BIND_NOW": "1", "DVSIM_SIMD": kernel.simd}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        sys.exit(f"instructions.py: {' '.join(command)}: {done.stderr.strip()[-500:]}")
    turns, *simd = done.stdout.split()
    return round(int(collected[1]) / int(turns)) if kernel.simd in ("", *simd) else None


def counts(folder: Path, programs: Sequence[str] = PROGRAMS) -> dict[str, int]:
    """Compile, count all kernels, and return the instructions of one turn of each that there is."""
    made = {program: build(folder, program) for program in programs}
    found = {str(one): count(made[one.program], one) for one in KERNELS if one.program in made}
    return {name: instructions for name, instructions in found.items() if instructions is not None}


class Row(NamedTuple):
    """A kernel beside its kept count; `off`: the change, or how far it is from the middle one."""

    name: str
    kept: int
    now: int
    off: float
    is_good: bool


def compared(kept: Mapping[str, int], now: Mapping[str, int], same: bool) -> list[Row]:
    """Return the kernels that are on both sides; `same`: one compiler has made both."""
    names = [name for name in kept if name in now]
    middle = 1.0 if same else statistics.median(now[name] / kept[name] for name in names)
    rows = []
    for name in names:
        off = now[name] / kept[name] / middle - 1
        rows.append(
            Row(name, kept[name], now[name], off, abs(off) <= SAME if same else off <= OTHER)
        )
    return rows


def judged(document: Mapping[str, object], now: Mapping[str, int], by: str) -> tuple[str, bool]:
    """Return the counts of now beside the kept ones as text, and whether all are good."""
    kept, same = document["kernels"], document["made by"] == by
    rows = compared(kept, now, same)
    lines = [f"instructions of one turn, by {by}"]
    if not same:
        lines.append(f"kept ones are by {document['made by']}: changes beside the middle kernel's,")
        lines.append(f"of which {OTHER:.0%} more is too much, where one compiler has {SAME:.0%}")
    lines.append(f"{'kernel':<34}{'kept':>12}{'now':>12}{'change':>9}")
    for row in rows:
        verdict = "" if row.is_good else "   more" if row.off > 0 else "   fewer"
        lines.append(f"{row.name:<34}{row.kept:>12,}{row.now:>12,}{row.off:>+9.1%}{verdict}")
    lines += [f"{name}: not counted on this machine" for name in kept if name not in now]
    new = [name for name in now if name not in kept]
    lines += [f"{name}: nothing is kept of it; --update keeps it" for name in new]
    return "\n".join(lines), bool(rows) and not new and all(row.is_good for row in rows)


def main() -> None:
    """Count, and compare or keep."""
    if sys.argv[1:] not in ([], ["--update"]):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        found = {"made by": made_by(), "kernels": counts(Path(folder))}
    if KEPT.exists():
        text, good = judged(json.loads(KEPT.read_text("utf-8")), found["kernels"], found["made by"])
        print(text)
    else:
        good = False
    if sys.argv[1:]:
        KEPT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        print(f"kept in {KEPT.name}")
    elif not good:
        sys.exit("a kernel takes more or fewer instructions than kept; if that is meant: --update")


if __name__ == "__main__":
    main()
