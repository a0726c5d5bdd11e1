"""The commands of dvsim that write results: what stays when a call about their files fails?"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from errno import EACCES, EINTR, EIO, EMFILE, ENOSPC
from pathlib import Path
from types import TracebackType

from fault import DEADLINE_S, HERE, NOTHING, Fault, Outcome, read_state, tail, verdict
from harness.patience import patience

SHORT = 0
LASTING = ("stat", "lstat")  # what nobody may look at stays so
ERRORS: Mapping[str, Sequence[int]] = {
    "open": [EMFILE, ENOSPC],
    "read": [EIO],
    "write": [ENOSPC, EIO, EINTR, SHORT],
    "fopen": [EMFILE, SHORT],
    **dict.fromkeys(("fsync", "syncfs", "close", "fclose", "unlink", "rmdir", "fstat"), (EIO,)),
    **dict.fromkeys(("rename", "mkdir", "link"), (ENOSPC,)),
    **dict.fromkeys(LASTING, (EACCES,)),
}
TIDYING = ("unlink", "rmdir", "close", "fstat", "open", *LASTING)  # of folders to be removed
RESULTS = (".parquet", ".csv", ".toml", ".json")  # a page holds times
VARYING = ("manifest.json", "t.json")  # hold times; the first is checked by `dvsim report`

# one iteration: more would be shared among processes
SMALL = ["tcp.toml", "--set", "workload.messages=200", "--set", "workload.iterations=1"]
SMALL += ["--replications", "1"]
RUN = ["run", *SMALL, "--out", "{out}/runs", "--json"]
SWEEP = ["sweep", *SMALL, "--vary", "system.publisher.processes=1,2", "--out", "{out}/runs"]
SWEEP += ["--sweeps", "{out}/sweeps", "--workers", "1", "--json"]


@dataclass(frozen=True)
class Command:
    """A command, and those that go before it without a fault; {out} is the folder of results."""

    argv: Sequence[str]
    before: Sequence[Sequence[str]] = ()


COMMANDS = {
    "dvsim run": Command(RUN),
    "dvsim run --force --report": Command([*RUN, "--force", "--report", "{out}/r.html"], [RUN]),
    "dvsim run --trace": Command([*RUN, "--trace", "{out}/t.json"]),
    "dvsim sweep": Command(SWEEP),
    "dvsim report": Command(["report", "{run}", "--report", "{out}/r.csv", "--overwrite"], [RUN]),
    "dvsim emulate --trace": Command(
        ["emulate", "-n", "2", "--trace", "{out}/t.json", "--", "true"]
    ),
}


class Desk:
    """A folder with a small scenario, and a process that runs commands there."""

    def __init__(self, folder: Path, library: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        self.good: dict[str, tuple[Outcome, dict[str, bytes]]] = {}
        spec = importlib.util.spec_from_file_location("texts", HERE.parent / "conftest.py")
        texts = importlib.util.module_from_spec(spec)
        sys.modules["texts"] = texts
        spec.loader.exec_module(texts)
        (folder / "cards").mkdir(parents=True)
        (folder / "tcp.toml").write_text(texts.OVER_TCP, "utf-8")
        for kind in texts.CARDS:
            (folder / "cards" / f"small-{kind}.toml").write_text(texts.card_text(kind), "utf-8")
        self.forker = subprocess.Popen(
            [sys.executable, str(HERE / "forker.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "LD_PRELOAD": str(library)},
        )  # fmt: skip
        for argv in (RUN, SWEEP):  # what they import is there for all that follow
            self.ask([word.format(out=self.out) for word in argv], {}, warm=True)
        shutil.rmtree(self.out)

    def __enter__(self) -> Desk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.forker.stdin.close()
        self.forker.wait()
        self.forker.stdout.close()

    def call(self, argv: Sequence[str], fault: Fault = NOTHING) -> Outcome:
        """Run a command; calls about files below `out` count."""
        state = self.folder / "state"
        state.unlink(missing_ok=True)
        env = {"FAULT": fault.text, "FAULT_STATE": str(state), "FAULT_UNDER": str(self.out)}
        words = {"out": str(self.out), "run": self.only("runs/*/*"), "sweep": self.only("sweeps/*")}
        code = self.ask([word.format(**words) for word in argv], env)
        out, err = ((self.folder / name).read_text("utf-8") for name in ("stdout", "stderr"))
        hung = code is None
        return Outcome(-9 if hung else code, out, err, *read_state(state), [], hung)

    def ask(self, argv: list[str], env: Mapping[str, str], warm: bool = False) -> int | None:
        """Let the other process run a command, in a fork, or to have it warm in itself."""
        asked = {"argv": argv, "env": env, "warm": warm, "cwd": str(self.folder)}
        asked |= {"out": str(self.folder / "stdout"), "err": str(self.folder / "stderr")}
        self.forker.stdin.write(json.dumps(asked | {"seconds": patience(DEADLINE_S)}) + "\n")
        self.forker.stdin.flush()
        code: int | None = json.loads(self.forker.stdout.readline())
        return code

    def only(self, pattern: str) -> str:
        """Return the one folder of this pattern; of a sweep without the parts beside it."""
        found = sorted(str(path).removesuffix(".parts") for path in self.out.glob(pattern))
        return found[0] if found else ""

    def kept(self) -> dict[str, bytes]:
        """Return the files of results that can be seen, but for those that hold times."""
        paths = [path for path in self.out.rglob("*") if path.is_file() and not hidden(path)]
        return {
            str(path.relative_to(self.out)): path.read_bytes()
            for path in paths
            if path.suffix in RESULTS and path.name not in VARYING
        }

    def fresh(self, name: str) -> None:
        """Make `out` what it is before the command."""
        prepared = self.folder / f"before {name}"
        shutil.rmtree(self.out, ignore_errors=True)
        if not prepared.exists():
            self.out.mkdir()
            for argv in COMMANDS[name].before:
                outcome = self.call(argv)
                assert outcome.code == 0, outcome
            self.out.rename(prepared)
        shutil.copytree(prepared, self.out)

    def counted(self, name: str) -> tuple[Outcome, dict[str, bytes]]:
        """Run a command without a fault, once: what it did, and what it kept."""
        if name not in self.good:
            self.fresh(name)
            outcome = self.call(COMMANDS[name].argv)
            assert outcome.code == 0, (name, outcome)
            self.good[name] = outcome, self.kept()
        return self.good[name]

    def faults(self, name: str) -> list[Fault]:
        """Return all faults of a command; of a full disk also that it stays full."""
        counts = self.counted(name)[0].counts
        found = []
        for call, errors in ERRORS.items():
            for error in errors:
                for number in range(1, counts.get(call, 0) + 1):
                    found.append(Fault(call, number, error, onward=call in LASTING))
                    if call == "write" and error == ENOSPC:
                        found.append(Fault(call, number, error, onward=True))
        return found

    def judge(self, name: str, fault: Fault) -> tuple[Outcome, str]:
        """Run a command with a fault, then without: what is wrong, or an empty text."""
        good, kept = self.counted(name)
        self.fresh(name)
        outcome = self.call(COMMANDS[name].argv, fault)
        wrong = self.fault_of(fault, outcome, good, kept) if outcome.failed else ""
        if not wrong:
            again = self.call(COMMANDS[name].argv)
            if again.code != 0:
                wrong = f"does not recover: {again.code}, {tail(again.err)}"
            elif differs(self.kept(), kept):
                wrong = f"after it results are {differs(self.kept(), kept)}"
            elif left := [path.name for path in self.out.rglob("*") if hidden(path)]:
                wrong = f"leaves {left} for ever"
        return outcome, wrong

    def fault_of(
        self, fault: Fault, outcome: Outcome, good: Outcome, kept: Mapping[str, bytes]
    ) -> str:
        if "Traceback" in outcome.err:
            return f"ends with a traceback: {tail(outcome.err)}"
        wrong = verdict(outcome, fault, outcome.out.splitlines())
        left = [path.name for path in self.out.rglob("*") if hidden(path)]
        if not wrong and left and fault.call not in TIDYING:
            wrong = f"leaves {left}"
        if not wrong and outcome.code == 0 and differs(self.kept(), kept):
            wrong = f"says it is good, and results are {differs(self.kept(), kept)}"
        for folder in {path.parent for path in self.out.rglob("*.toml") if not hidden(path)}:
            if wrong or all(kept.get(at) == data for at, data in self.files_of(folder).items()):
                continue
            shown = self.call(["report", str(folder), "--report", str(self.folder / "seen.csv")])
            wrong = f"a half folder is reported: {folder}" if shown.code == 0 else ""
        return wrong

    def files_of(self, folder: Path) -> dict[str, bytes]:
        """Return what is kept below a folder."""
        at = f"{folder.relative_to(self.out)}/"
        return {path: data for path, data in self.kept().items() if path.startswith(at)}


def hidden(path: Path) -> bool:
    """Is it, or is it in, a folder or file that is not complete?"""
    return any(part.startswith((".partial", ".previous")) for part in path.parts)


def differs(found: Mapping[str, bytes], kept: Mapping[str, bytes]) -> str:
    """Say in what two sets of files differ, or an empty text."""
    names = sorted(name for name in found.keys() | kept.keys() if found.get(name) != kept.get(name))
    return f"other than they should be: {', '.join(names)}" if names else ""
