"""How many cache lines of shared memory does each call touch? What docs/emulator-figures.md says.

The functions that the thread sanitizer's code calls write down which addresses the library reads
and writes (programs/lines.c). A count does not depend on the machine, nor on who else runs there.
"""

import subprocess

from builds import LIBRARY, threaded_objects
from emulator_build import PROGRAMS, ROOT, build
from harness.once import once

TABLE = "| call | lines | written | which |\n|---|---:|---:|---|\n"


def counted() -> str:
    """Return the rows of the table as they are now."""

    def make(folder):
        objects = sorted((threaded_objects() / "libvic").glob("*.o"))
        flags = ["-std=c11", "-O1", "-pthread", "-Werror", *LIBRARY]
        build.compile_c([PROGRAMS / "lines.c", *objects], folder / "lines", flags)

    program = once("the program that counts cache lines", make) / "lines"
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


def test_each_call_touches_as_many_lines_as_the_table_says():
    page = (ROOT / "docs" / "emulator-figures.md").read_text("utf-8")
    assert TABLE in page
    assert page.partition(TABLE)[2].startswith(counted() + "\n")
