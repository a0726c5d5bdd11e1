"""Does a card that sends to one whose counts were written over still hear of a death?"""

import subprocess

import pytest
from emulator_build import PROGRAMS, ROOT, SMALL, build


@pytest.fixture(scope="module")
def forged(emulator, tmp_path_factory):
    """A program that sees the memory of its job."""
    made = tmp_path_factory.mktemp("forged-fifo") / "fifo_forged"
    sources = [ROOT / "emulator" / "src" / name for name in ("job.c", "config.c")]
    lib = emulator.prefix / "lib"
    flags = ["-std=c11", *build.WARNINGS, "-Werror", *build.INCLUDES, "-pthread"]
    flags += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", *emulator.flags]
    build.compile_c([PROGRAMS / "fifo_forged.c", *sources], made, flags)
    return made


def test_a_sender_does_not_spin_at_a_fifo_that_makes_no_sense(emulator, forged):
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    done = subprocess.run(
        [vicrun, "-n", "2", *SMALL, "--", str(forged)],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.stdout == "heard\n", done.stderr
    assert "card 1 was killed by signal 9" in done.stderr
