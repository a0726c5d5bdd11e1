"""Does the C core keep its contract, under the sanitizers and with every warning an error?"""

import subprocess
import sys
from pathlib import Path

import pytest
from harness.once import once

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "emulator"))
from builds import built_plain, built_with_sanitizers, threaded_objects  # noqa: E402
from emulator_build import build as emulator  # noqa: E402
from emulator_build import in_place  # noqa: E402

SOURCES = sorted((ROOT / "models").glob("*/*.c"))
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", str(ROOT / "models")]

WRAPPED = ("malloc", "calloc", "realloc", "posix_memalign", "pthread_create")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_compiles_without_a_warning(source, tmp_path):
    """On models/ alone; what the emulator has of it was optimised with -Werror as it was built."""
    built = list(built_plain().glob(f"objects/*/{source.parent.name}-{source.stem}.o"))
    how = ["-fsyntax-only"] if built else ["-c", "-o", str(tmp_path / "out.o")]
    command = ["cc", *STRICT, "-O2", *how, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("header", sorted((ROOT / "models").glob("*/*.h")), ids=lambda p: p.name)
def test_header_stands_alone(header, tmp_path):
    unit = tmp_path / "unit.c"
    unit.write_text(f'#include "{header}"\nint unit_is_not_empty;\n')
    command = ["cc", *STRICT, "-c", str(unit), "-o", str(tmp_path / "unit.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def sanitized(sanitizers):
    """Return the flags of a build; lines are enough to find a place, and take half the time."""
    return [f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all", "-g1", "-O1", "-pthread"]


def build(command):
    """Run a compiler, or what goes with it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def archive(folder, sanitizers):
    """Fill a folder with core.a, all of models/: that of the emulator is compiled already."""
    made = threaded_objects() if sanitizers == "thread" else built_with_sanitizers() / "objects"
    objects = {path.name: path for path in made.glob("*/*.o")}
    rest = [path for path in SOURCES if f"{path.parent.name}-{path.stem}.o" not in objects]
    new = emulator.compile_objects(rest, folder, [*STRICT, *sanitized(sanitizers)])
    ready = [objects[f"{p.parent.name}-{p.stem}.o"] for p in SOURCES if p not in rest]
    assert new and ready
    build(["ar", "rcs", str(folder / "core.a"), *map(str, new + ready)])


@pytest.mark.parametrize(
    ("name", "sanitizers"),
    [("core_test", "address,undefined"), ("vic_test", "address,undefined"),
     ("receiver_test", "address,undefined"), ("vortex_test", "address,undefined"),
     ("vortex_test", "thread"), ("network_test", "address,undefined"), ("network_test", "thread"),
     ("memory_test", "address,undefined"), ("ranges_test", "address,undefined"),
     ("ranges_card_test", "address,undefined"), ("replay_test", "address,undefined"),
     ("cycle_test", "address,undefined"), ("dead_cables_test", "address,undefined")],
)  # fmt: skip
def test_checks_pass_under_the_sanitizers(name, sanitizers, tmp_path):
    program = tmp_path / name
    flags = sanitized(sanitizers)
    core = once(f"models/, {sanitizers}", lambda folder: archive(folder, sanitizers)) / "core.a"
    if name == "memory_test":
        flags = [*flags, "-Wl," + ",".join(f"--wrap={call}" for call in WRAPPED)]
    source = Path(__file__).with_name(f"{name}.c")
    build(["cc", *STRICT, *flags, str(source), str(core), "-o", str(program)])
    done = subprocess.run([*in_place(), str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("checks passed\n")


def test_core_knows_nothing_of_brokers():
    """The rooms: what models/ holds is hardware."""
    words = ("amqp", "rabbit", "broker", "python")
    for path in sorted((ROOT / "models").glob("*/*.[ch]")):
        text = path.read_text().lower()
        assert not [word for word in words if word in text], path
