"""Do the hot loops take the instructions that are kept, and would a slower one be seen?"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from harness.once import once

ROOT = Path(__file__).parents[2]


def load(name: str):
    """Return a module of bench/."""
    spec = importlib.util.spec_from_file_location(f"bench_{name}", ROOT / "bench" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


bench = load("instructions")
KEPT = json.loads(bench.KEPT.read_text("utf-8"))


def counted(program: str) -> Path:
    """Return a folder with a program, its objects, and the counts of its kernels."""

    def make(folder: Path) -> None:
        (folder / "counts.json").write_text(json.dumps(bench.counts(folder, [program])), "utf-8")

    return once(f"instruction counts of {program}", make)


def counts(*programs: str) -> dict[str, int]:
    texts = ((counted(program) / "counts.json").read_text("utf-8") for program in programs)
    return {name: count for text in texts for name, count in json.loads(text).items()}


@pytest.mark.parametrize("program", bench.PROGRAMS)
def test_are_the_kernels_of_a_program_counted(program):
    names = {str(kernel) for kernel in bench.KERNELS if kernel.program == program}
    lacking = {name for name in names if "avx2" in name}  # where the machine has no such vectors
    assert names - lacking <= set(counts(program)) <= names


def test_do_the_kernels_take_as_many_instructions_as_are_kept():
    text, is_good = bench.judged(KEPT, counts(*bench.PROGRAMS), bench.made_by())
    meant = "if a change is meant: .venv/bin/python bench/instructions.py --update"
    if not is_good:
        pytest.fail(f"{text}\n{meant}", pytrace=False)


def test_is_a_tenth_more_work_in_the_slots_seen(tmp_path):
    kernel = bench.Kernel("models", "switch-64x4", "portable")
    whole = counts("models")[str(kernel)]
    turns = whole // 10 // 4  # a turn of this loop has four instructions or more
    source = tmp_path / "vortex" / "slices_slot.c"
    source.parent.mkdir()
    text = (bench.MODELS / "vortex" / "slices_slot.c").read_text("utf-8")
    line = "    leave(s, k, now);\n"
    assert text.count(line) == 1
    waste = f"    for (volatile int i = 0; i < {turns}; i++) {{}}\n"
    source.write_text(text.replace(line, waste + line), "utf-8")
    flags = [*bench.flags_of("models"), f"-I{bench.MODELS / 'vortex'}"]
    (changed,) = bench.compile_objects([source], tmp_path, flags)
    compiled = list((counted("models") / "models-objects").iterdir())
    others = [path for path in compiled if path.name != changed.name]
    assert len(others) + 1 == len(compiled)
    bench.compile_c([*others, changed], tmp_path / "models", flags)
    slower = bench.count(tmp_path / "models", kernel)
    assert 1.08 < slower / whole < 1.3
    kept = {"made by": "this", "kernels": {str(kernel): whole}}
    text, is_good = bench.judged(kept, {str(kernel): slower}, "this")
    assert not is_good and text.endswith("   more")
    assert bench.judged(kept, {str(kernel): whole}, "this")[1]


def test_is_what_was_gained_to_be_kept():
    kept = {"made by": "this", "kernels": {"one": 1000, "two": 1000}}
    text, is_good = bench.judged(kept, {"one": 960, "two": 1029}, "this")
    assert not is_good and [line.split()[-1] for line in text.splitlines()[2:]] == [
        "fewer",
        "+2.9%",
    ]


def test_is_another_compiler_held_against_the_middle_kernel():
    kept = {"made by": "that", "kernels": {"one": 1000, "two": 1000, "three": 1000}}
    now = {"one": 2000, "two": 2400, "three": 1800}
    text, is_good = bench.judged(kept, now, "this")
    assert is_good and "kept ones are by that" in text and "+20.0%" in text
    assert not bench.judged(kept, now | {"two": 3100}, "this")[1]


def test_is_a_kernel_without_a_kept_count_said():
    kept = {"made by": "this", "kernels": {"one": 1000, "gone": 1000}}
    text, is_good = bench.judged(kept, {"one": 1000, "new": 5}, "this")
    assert not is_good and "new: nothing is kept of it" in text
    text, is_good = bench.judged(kept, {"one": 1000}, "this")
    assert is_good and "gone: not counted on this machine" in text
