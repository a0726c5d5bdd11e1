"""The programs in C whose calls are made to fail, and with which errors."""

from __future__ import annotations

import errno as e
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fault import HERE, NOTHING, SANITIZE, Fault, Outcome, Watched, build, in_place, verdict

SHORT = 0  # half of it, or a stream to a full disk
ERRORS: Mapping[str, Sequence[int]] = {
    **dict.fromkeys(
        ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign"), (e.ENOMEM,)
    ),
    **dict.fromkeys(("mmap", "setenv", "execvp", "recv", "recvmsg"), (e.ENOMEM,)),
    **dict.fromkeys(
        ("memfd_create", "open", "pipe2", "signalfd", "socket", "accept4"), (e.EMFILE,)
    ),
    **dict.fromkeys(("fclose", "close", "rename", "unlink", "readlink"), (e.EIO,)),
    **dict.fromkeys(("stat", "lstat", "bind"), (e.EACCES,)),
    **dict.fromkeys(("fork", "pthread_create"), (e.EAGAIN,)),
    **dict.fromkeys(("send", "sendmsg", "getsockopt", "setsockopt"), (e.ENOBUFS,)),
    **dict.fromkeys(("waitid", "nanosleep", "futex_wait"), (e.EINTR,)),
    "ftruncate": [e.ENOSPC],
    "fopen": [e.EMFILE, SHORT],
    "read": [e.EIO, e.EINTR, SHORT],
    "write": [e.EIO, e.ENOSPC, e.EINTR, SHORT],
    "pread": [e.EIO, SHORT],
    "pwrite": [e.ENOSPC, SHORT],
    "fstat": [e.EBADF],
    "fcntl": [e.EINVAL],
    "dup2": [e.EBUSY],
    "getrandom": [e.EINTR],
    "poll": [e.ENOMEM, e.EINTR],
    "listen": [e.EADDRINUSE],
    "connect": [e.ECONNREFUSED],
    "futex_wake": [e.EINVAL],
    "pidfd_open": [e.EMFILE],
    "pidfd_send_signal": [e.EPERM],
}
SMALL = ("--set", "sram=262144", "--set", "fifo_words=64", "--set", "dma_entries=32")
# the guest's output has a file of its own: a line that is written short is finished with a second
# write, and on the pipe that the others share one of their lines may come between
JOIN = """\
{vicrun} -n 3 {small} --serve "$PWD/door" -- {talk} cards : {talk} cards : - &
until [ -S door ] || ! kill -0 $!; do sleep 0.02; done 2>/dev/null
{vicrun} --join "$PWD/door" --prefix -- {talk} cards > joined.txt
joined=$?
cat joined.txt && rm joined.txt
[ $joined = 0 ] || kill $! 2>/dev/null
wait $!
served=$?
[ $joined = 0 ] && exit $served
exit $joined
"""


@dataclass(frozen=True)
class Subject:
    """One command: three cards that `talk`, and the process in it whose calls fail.

    Attributes
    ----------
    name
        Of the subject.
    what
        The argument of talk.
    options
        Of vicrun.
    card
        Of the program whose calls fail; empty: those of a launcher, or of vicbridge.
    launcher
        The one whose calls fail: vicrun, or the vichost of each host.
    """

    name: str
    what: str = "cards"
    options: Sequence[str] = ()
    card: str = ""
    launcher: str = "vicrun"


WATCHED = ("--prefix", "--stats", "--trace", "trace.json")
# two vichosts of this machine
HOSTS = ("--hosts", "a:2,b:1", "--launch-with", "env OF_HOST={host}", "--interface", "lo")
SUBJECTS = (
    Subject("vicrun", options=WATCHED),
    Subject("vicrun, timed", options=(*WATCHED, "--mode", "timed")),
    Subject("vicrun --serve and --join", what="join"),
    Subject("cards", card="1", options=("--reorder", "1")),
    Subject("cards, timed", card="1", options=("--mode", "timed")),
    Subject("messages", "messages", card="1"),
    Subject("messages, timed", "messages", card="1", options=("--mode", "timed")),
    Subject("client", "client", card="1"),
    Subject("client as a bridge", "client", card="0"),
    Subject("client, timed", "client", card="1", options=("--mode", "timed")),
    Subject("vicbridge", "bridge"),
    Subject("vicrun --hosts", options=HOSTS),
    Subject("vichost", options=HOSTS, launcher="vichost"),
)
OBJECTS = "vicrun:vichost:libvic.so.0:libvic-threads.so"
BRIDGE_OBJECTS = "vicbridge:librabbitmq.so.4"
MEMORY = ("malloc", "calloc", "realloc")
"""Of the bridge only its own count: librabbitmq loses some when it gets none."""
BRIDGE = ("--queue", "q=k", "--ring", "4096", "--max-message", "40000", "--exit-with-clients")
BRIDGE += ("--reconnect", "0.01:0.05", "--stats", "stats.csv", "--prometheus", "bridge.prom")


@dataclass
class Bench:
    """A build of the emulator with talk, and a folder to run it in."""

    prefix: Path
    talk: Path
    shim: Path
    folder: Path
    before: Sequence[str] = ()
    flags: Sequence[str] = ()
    good: dict[str, Outcome] = field(default_factory=dict)

    def run(self, subject: Subject, fault: Fault) -> Outcome:
        """Run a subject in an empty folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        vicrun = [*self.before, str(self.prefix / "bin" / "vicrun")]
        limits = {"FAULT_OBJECTS": f"{OBJECTS}:{self.talk.name}"}
        limits["FAULT_PROGRAM"] = self.talk.name if subject.card else subject.launcher
        if subject.card:
            limits["FAULT_CARD"] = subject.card
        cards = () if subject.options == HOSTS else ("-n", "3")
        command = [*vicrun, *cards, *SMALL, *subject.options, "--", str(self.talk), subject.what]
        if subject.what == "join":
            words = {"vicrun": shlex.join(vicrun), "small": shlex.join(SMALL), "talk": self.talk}
            command = ["sh", "-c", JOIN.format(**words)]
        if subject.what == "bridge":
            own = fault.number > 0 and fault.call in MEMORY
            limits = {"FAULT_OBJECTS": "vicbridge" if own else BRIDGE_OBJECTS}
            limits["FAULT_PROGRAM"] = "vicbridge"
            command = [*vicrun, "-n", "1", *SMALL, "--", str(self.talk), "bridge", ":"]
            command = [*self.made("served"), *command, *self.made("vicbridge"), *BRIDGE]
        return Watched(self.shim, self.folder, limits).run(command, fault)

    def made(self, name: str) -> list[str]:
        """Return served or vicbridge as a command, compiled when it is first asked for."""
        program = self.talk.with_name(name)
        if not program.exists():
            lib, emulator = self.prefix / "lib", build.HERE
            flags = ["-std=c11", "-g", "-pthread", *build.WARNINGS, "-Werror"]
            if name == "served":
                sources = [HERE / "served.c", HERE.parent / "fuzz" / "amqp_server.c"]
            else:
                sources = build.program_sources("bridge")
                include = [emulator / "base", self.prefix / "include"]
                flags += [*self.flags, *(f"-I{path}" for path in include)]
                flags += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", "-lrabbitmq"]
            build.compile_c(sources, program, flags)
        return [str(program)]

    def counted(self, subject: Subject) -> Outcome:
        """Run it without a fault, once."""
        if subject.name not in self.good:
            outcome = self.run(subject, NOTHING)
            assert (outcome.code, outcome.left) == (0, []), (subject.name, outcome)
            self.good[subject.name] = outcome
        return self.good[subject.name]

    def judge(self, subject: Subject, fault: Fault) -> tuple[Outcome, str]:
        """Run it with a fault; what is wrong with what it did, or an empty text."""
        good = self.counted(subject)
        outcome = self.run(subject, fault)
        wrong = verdict(outcome, fault, good.out.splitlines()) if outcome.failed else ""
        if early := ids(outcome.out, "confirmed") - ids(outcome.out, "received"):
            wrong = wrong or f"confirms {sorted(early)}, which the broker has not received"
        half = [path.name for path in self.folder.iterdir() if path.name not in KEPT]
        if half and not wrong:
            # what cannot be removed stays
            wrong = "" if fault.call == "unlink" else f"leaves {half}"
        return outcome, wrong


KEPT = {"trace.json", "stats.csv", "bridge.prom"}


def ids(out: str, what: str) -> set[str]:
    """Return the messages of which this is said."""
    return {line.split()[-1] for line in out.splitlines() if line.startswith(f"{what} ")}


def faults_of(counts: Mapping[str, int]) -> Iterator[Fault]:
    """Yield all faults: each call that was made, with each of its errors."""
    left_out = os.environ.get("FAULTS_LEFT_OUT", "").split()  # see tests/coverage/c.py
    for call, errors in ERRORS.items():
        made = 0 if call in left_out else counts.get(call, 0)
        for error in errors:
            for number in range(1, made + 1):
                yield Fault(call, number, error)


def firsts(counts: Mapping[str, int]) -> list[Fault]:
    """Return the faults of the first of each call.

    How often a call is made is a matter of time; that it is made is not, so these are the same
    everywhere.
    """
    return [fault for fault in faults_of(counts) if fault.number == 1]


def compiled_talk(folder: Path, prefix: Path, flags: Sequence[str]) -> Path:
    """Compile talk for a build of the emulator with these flags of the compiler."""
    lib, talk = prefix / "lib", folder / "talk"
    linked = ["-pthread", f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", *flags]
    own = ["-std=c11", "-g", *build.WARNINGS, "-Werror", f"-I{prefix / 'include'}"]
    build.compile_c([HERE / "talk.c"], talk, [*own, *linked])
    return talk


def bench(folder: Path, shim: Path, flags: Sequence[str]) -> Bench:
    """Build the emulator and talk with these flags of the compiler."""
    prefix = folder / "prefix"
    build.build(prefix, flags)
    talk = compiled_talk(folder, prefix, flags)
    before = in_place() if flags is SANITIZE else []
    return Bench(prefix, talk, shim, folder / "run", before, flags)
