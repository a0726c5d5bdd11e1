"""Does a card that sends to one whose counts were written over still hear of a death?"""

import pytest
from emulator_build import PROGRAMS, ROOT, SMALL, build


@pytest.fixture(scope="module")
def seeing(emulator):
    """A program that sees the memory of its job."""
    sources = [ROOT / "emulator" / "src" / name for name in ("job.c", "config.c")]
    lib = emulator.prefix / "lib"
    flags = ["-std=c11", *build.WARNINGS, "-Werror", *build.INCLUDES, "-pthread"]
    flags += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", *emulator.flags]
    emulator.made["fifo_forged"] = emulator.prefix / "fifo_forged"
    build.compile_c([PROGRAMS / "fifo_forged.c", *sources], emulator.made["fifo_forged"], flags)
    return emulator


def test_a_sender_does_not_spin_at_a_fifo_that_makes_no_sense(seeing):
    done = seeing.run(2, "fifo_forged", options=SMALL, timeout=60)
    assert done.stdout == "heard\n", done.stderr
    assert "card 1 was killed by signal 9" in done.stderr
