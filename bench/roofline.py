"""What binds each hot loop: instructions, bytes from caches, or branches predicted wrong?

Valgrind counts what one unit of work takes, with caches as large as those of this machine. The
machine's limits are measured in the same run: independent additions, a copy within each cache and
in memory, branches by chance. A count over its limit is the time that this resource alone would
take; the resource with the longest one binds, and its share of the measured time says how near the
loop is to it. What is left over are waits of one instruction for another, which no count shows.

    bench/roofline.py [KERNEL …]      such as: switch-1024x8 put

Writes build/bench/roofline.md, .json and .svg. The instruction set is AVX2, or
the portable loops where there is none: valgrind knows no wider one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from instructions import HERE, build, compile_c
from matplotlib.figure import Figure
from rows import row

OUT = HERE.parent / "build" / "bench"
LINE = 64  # bytes of a cache line
MODELS: Mapping[str, tuple[str, int]] = {
    "switch-64x4": ("node update", 64 * 4 * 7),
    "switch-1024x8": ("node update", 1024 * 8 * 11),
    "switch-65536x16": ("node update", 65536 * 16 * 17),
    "switch-16x4x256": ("node update", 16 * 4 * 5 * 256),
    "network": ("slot", 1),
    "network-65536": ("slot", 1),
    "receive-8": ("message", 2700),
    "receive-8192": ("message", 16),
}
"""Kernels of kernels/models.c: the unit of work, and how many a turn has."""
LIBVIC: Mapping[str, tuple[str, int]] = {
    "put": ("word", 1),
    "send": ("word", 64),
    "surprise": ("word", 1),
    "message-8": ("message", 1),
    "message-8192": ("message", 1),
}
"""Kernels of kernels/libvic.c."""


@dataclass(frozen=True)
class Limits:
    """What the machine can do: per ns instructions and bytes, and ns for a mispredicted branch."""

    instructions: float
    branch: float
    second: float
    """Bytes per ns, read and written, of a copy within the second cache."""
    beyond: float
    """The same of a copy that is 64 times as large: the last cache, or memory."""


@dataclass(frozen=True)
class Loop:
    """What one unit of work of a kernel takes: ns, and what valgrind counted."""

    kernel: str
    unit: str
    measured: float
    instructions: float
    second_bytes: float
    beyond_bytes: float
    mispredicted: float

    def times(self, machine: Limits) -> dict[str, float]:
        """Return the ns that each resource alone would take."""
        return {
            "instructions": self.instructions / machine.instructions,
            "second cache": self.second_bytes / machine.second,
            "beyond it": self.beyond_bytes / machine.beyond,
            "branches": self.mispredicted * machine.branch,
        }

    def binds(self, machine: Limits) -> tuple[str, float]:
        """Return the resource that would take longest alone, and its share of the measured time."""
        times = self.times(machine)
        name = max(times, key=lambda each: times[each])
        return name, times[name] / self.measured


def cache(level: int) -> tuple[int, int]:
    """Return the bytes and ways of a data cache; usual values if the system names none."""
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        said = {name: (folder / name).read_text("ascii").strip() for name in ("level", "type")}
        if said == {"level": str(level), "type": "Data"} or (
            said["level"] == str(level) and said["type"] == "Unified"
        ):
            size = int((folder / "size").read_text("ascii").strip().removesuffix("K")) * 1024
            return size, int((folder / "ways_of_associativity").read_text("ascii"))
    return {1: (32768, 8), 2: (1 << 20, 16)}[level]


def options() -> list[str]:
    """Return what tells valgrind the first and the second cache of this machine."""
    sizes = (("D1", *cache(1)), ("LL", *cache(2)))
    return [f"--{name}={size},{ways},{LINE}" for name, size, ways in sizes]


def limits(program: Path) -> Limits:
    """Measure what the machine can do now."""

    def numbers(*arguments: str) -> list[float]:
        done = subprocess.run(
            [str(program), *arguments], capture_output=True, text=True, check=True
        )
        return [float(word) for word in done.stdout.split()]

    second = cache(2)[0]
    return Limits(*numbers(), *numbers(str(second // 2)), *numbers(str(64 * second)))


def better(one: Limits, other: Limits) -> Limits:
    """Return the best of two measurements: other work can only hide what a machine can do."""
    return Limits(
        max(one.instructions, other.instructions),
        min(one.branch, other.branch),
        max(one.second, other.second),
        max(one.beyond, other.beyond),
    )


def collected(program: Path, kernel: str, env: Mapping[str, str]) -> dict[str, int]:
    """Return valgrind's counts of all turns of a kernel, and the number of turns as `turns`."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *options()]
    command += ["--collect-atstart=no", "--toggle-collect=counted", "--cache-sim=yes"]
    command += ["--branch-sim=yes", str(program), kernel]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    names = re.search(r"Events\s*: (.+)", done.stderr)
    counts = re.search(r"Collected : (.+)", done.stderr)
    if done.returncode != 0 or names is None or counts is None:
        sys.exit(f"roofline.py: {' '.join(command)}: {done.stderr.strip()[-500:]}")
    found = dict(zip(names[1].split(), map(int, counts[1].split()), strict=True))
    return found | {"turns": int(done.stdout.split()[0])}


def loop(program: Path, kernel: str, unit: str, units: int) -> Loop:
    """Count and time a kernel, and return what one unit of its work takes."""
    env = {"PATH": os.defpath, "LD_BIND_NOW": "1", "DVSIM_SIMD": "avx2"}
    counts = collected(program, kernel, env)
    each = 1 / counts["turns"] / units
    timed = subprocess.run(
        [str(program), kernel, "time"], env=env, capture_output=True, text=True, check=True
    )
    return Loop(
        kernel,
        unit,
        measured=float(timed.stdout.split()[2]) / units,
        instructions=counts["Ir"] * each,
        second_bytes=(counts["D1mr"] + counts["D1mw"]) * LINE * each,
        beyond_bytes=(counts["DLmr"] + counts["DLmw"]) * LINE * each,
        mispredicted=(counts["Bcm"] + counts["Bim"]) * each,
    )


def as_markdown(machine: Limits, loops: Sequence[Loop]) -> str:
    """Return the limits and a row for each kernel, for people."""
    lines = [
        f"This machine: {machine.instructions:.1f} instructions a ns, {machine.second:.0f} B a ns",
        f"within the second cache ({cache(2)[0] // 1024} KiB) and {machine.beyond:.0f} beyond it,",
        f"{machine.branch:.1f} ns for a branch that was predicted wrong.",
        "",
        "| kernel | unit | ns | instructions | bytes to L1 | bytes to L2 | mispredicted | binds |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for one in loops:
        name, share = one.binds(machine)
        cells = (
            one.kernel, one.unit, f"{one.measured:,.3g}", f"{one.instructions:,.3g}",
            f"{one.second_bytes:,.3g}", f"{one.beyond_bytes:,.3g}", f"{one.mispredicted:.2g}",
            f"{name}, {share:.0%} of the time",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw(machine: Limits, loops: Sequence[Loop], path: Path) -> None:
    """Draw, for each kernel, the share of its time that each resource alone would take."""
    figure = Figure(figsize=(8, 0.5 * len(loops) + 1.2), layout="constrained")
    axes = figure.subplots()
    names = list(loops[0].times(machine))
    for k, name in enumerate(names):
        places = [row + 0.2 * (k - 1.5) for row in range(len(loops))]
        shares = [one.times(machine)[name] / one.measured for one in loops]
        axes.barh(places, shares, height=0.18, label=name)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(loops)), [one.kernel for one in loops])
    axes.invert_yaxis()
    axes.set_xlabel("share of the measured time that this resource alone would take")
    axes.legend(loc="lower right", fontsize="small")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Count, time, and write the table and the picture."""
    if shutil.which("valgrind") is None:
        sys.exit("roofline.py: there is no valgrind; tests/install-packages installs it")
    kernels = {**MODELS, **LIBVIC}
    asked = sys.argv[1:] or list(kernels)
    if unknown := [name for name in asked if name not in kernels]:
        sys.exit(f"roofline.py: no kernel '{unknown[0]}'; there are {', '.join(kernels)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ruler = folder / "limits"
        compile_c([HERE / "kernels" / "limits.c"], ruler, ["-O2", "-std=c11"])
        machine = limits(ruler)
        made = {program: build(folder, program) for program in ("models", "libvic")}
        loops = []
        for kernel in asked:
            program = made["models" if kernel in MODELS else "libvic"]
            loops.append(loop(program, kernel, *kernels[kernel]))
            machine = better(machine, limits(ruler))
            print(f"{kernel}: {loops[-1].measured:,.3g} ns a {loops[-1].unit}", flush=True)
    for one in loops:
        name, share = one.binds(machine)
        row(f"{one.kernel}: what binds, {name}", "the measured time", share, "more")
    OUT.mkdir(parents=True, exist_ok=True)
    document = {"limits": asdict(machine), "loops": [asdict(one) for one in loops]}
    (OUT / "roofline.json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    (OUT / "roofline.md").write_text(as_markdown(machine, loops), "utf-8")
    draw(machine, loops, OUT / "roofline.svg")
    print(f"\n{(OUT / 'roofline.md').read_text('utf-8')}\n{OUT}/roofline.md, .json, .svg")


if __name__ == "__main__":
    main()
