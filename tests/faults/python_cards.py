"""Cards that Python drives as subjects: calls that libvic makes for `dvsim.vic` fail.

What libvic does then is looked at in C, with sanitizers (subjects.py). Here it is whether Python
makes an error of it, and takes nothing half for whole. The other two cards are talk.c.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from fault import HERE, Fault, Outcome, Watched, build
from subjects import SMALL, Bench, Subject

from dvsim.native import emulator_prefix

PROGRAM = HERE / "talk_in_python.py"
PYTHON_CARDS = (
    Subject("a card in Python", "cards", card="1"),
    Subject("messages in Python", "messages", card="1"),
    Subject("a client in Python", "client", card="1"),
    Subject("a bridge in Python", "client", card="0"),
)


@dataclass
class PythonBench(Bench):
    """The emulator that comes with dvsim, talk, and a folder to run both in."""

    def run(self, subject: Subject, fault: Fault) -> Outcome:
        """Run a subject in an empty folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        python = Path(sys.executable)
        limits = {"FAULT_OBJECTS": "libvic.so.0", "FAULT_PROGRAM": python.resolve().name}
        cards = [[str(self.talk), subject.what] for _ in range(3)]
        cards[int(subject.card)] = [str(python), str(PROGRAM), subject.what]
        command = [str(self.prefix / "bin" / "vicrun"), "-n", "1", *SMALL, *subject.options, "--"]
        for number, words in enumerate(cards):
            command += [":", *words] if number else words
        watched = Watched(self.shim, self.folder, limits | {"FAULT_CARD": subject.card})
        return watched.run(command, fault, PYTHONUNBUFFERED="")  # a line is one write

    def judge(self, subject: Subject, fault: Fault) -> tuple[Outcome, str]:
        """Run it with a fault; what is wrong, also if it ends with anything but a `VicError`."""
        outcome, wrong = super().judge(subject, fault)
        if not wrong and "Traceback" in outcome.err:
            wrong = f"ends with a traceback: {outcome.err[-1500:]}"
        return outcome, wrong


def python_bench(folder: Path, shim: Path) -> PythonBench:
    """Compile talk for the emulator that comes with dvsim."""
    prefix, talk = emulator_prefix(), folder / "talk"
    lib = prefix / "lib"
    linked = ["-pthread", f"-I{prefix / 'include'}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic"]
    build.compile_c([HERE / "talk.c"], talk, ["-std=c11", "-O1", "-g", *linked])
    return PythonBench(prefix, talk, shim, folder / "run")
