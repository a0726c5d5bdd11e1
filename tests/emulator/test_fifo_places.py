"""FIFOs of whose places somebody has taken some, or says so: do waits end, and soon?"""

import subprocess

import pytest
from emulator_build import PROGRAMS, ROOT, SMALL, build


@pytest.fixture(scope="module")
def run(emulator, tmp_path_factory):
    """Run a program that sees the memory of its job, and return what came of it."""
    folder = tmp_path_factory.mktemp("fifo-places")

    def compile_and_run(name, *words, cards=1):
        program = folder / name
        sources = [ROOT / "emulator" / "src" / source for source in ("job.c", "config.c")]
        lib = emulator.prefix / "lib"
        flags = ["-std=c11", *build.WARNINGS, "-Werror", *build.INCLUDES, "-pthread"]
        flags += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", *emulator.flags]
        if not program.exists():
            build.compile_c([PROGRAMS / f"{name}.c", *sources], program, flags)
        vicrun = str(emulator.prefix / "bin" / "vicrun")
        return subprocess.run(
            [vicrun, "-n", str(cards), "--stats", *SMALL, "--", str(program), *words],
            capture_output=True, text=True, check=False, timeout=200,
        )  # fmt: skip

    return compile_and_run


def test_a_sender_does_not_spin_at_a_fifo_that_makes_no_sense(run):
    done = run("fifo_forged", cards=2)
    assert done.stdout == "heard\n", done.stderr
    assert "card 1 was killed by signal 9" in done.stderr


@pytest.mark.parametrize("call", ["fifo_wait", "any"])
def test_a_reader_does_not_sleep_long_while_a_place_is_filled(run, call):
    done = run("fifo_filling", call)
    assert done.stdout == "short\n", done.stderr
