"""Which test programs run over several hosts, how, and why the others do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from emulator_build import CONFORMANCE, FAULTS


@dataclass(frozen=True)
class Case:
    """A program, its cards on the first host and on the second, and its exit code and output."""

    program: str
    split: Sequence[int] = (2, 1)
    arguments: Sequence[str] = ()
    options: Sequence[str] = ()
    env: dict[str, str] = field(default_factory=dict)
    code: int = 0
    said: str = ""
    """Part of its output."""

    def __str__(self) -> str:
        words = (self.program, *self.arguments, *self.options, *self.env.values())
        return " ".join(words)


REORDER = ("--reorder", "3")
SHALLOW = tuple(text for fault in ("fifo-depth=3", *FAULTS[1:]) for text in ("--fault", fault))
KILLED = 128 + 9
LAYERS = (
    "collectives", "collective_limits", "collective_threads",
    "messages", "message_limits", "message_threads", "message_hostile",
    "client_publish", "client_topics", "client_hostile", "client_relay",
)  # fmt: skip

FUNCTIONAL = (
    *(Case(name) for name in (*CONFORMANCE, *LAYERS)),
    *(Case(name, (1, 2), options=(*REORDER, *SHALLOW)) for name in ("exchange", "surprise")),
    *(Case(name, (1, 2), options=REORDER) for name in ("queries", "vectors", "messages")),
    *(Case(name, (1, 2), options=SHALLOW) for name in ("barriers", "threads", "any_of")),
    Case("one_reader", (1, 2)),
    Case("both_close", (1, 1)),
    Case("bulk", (1, 1)),
    *(Case("cancelled", (1, 1), (how,)) for how in ("waits", "message", "often", "team")),
    Case("client_inbox_death", (1, 1), code=KILLED),
    Case("client_last", (1, 1)),
    Case("client_waits", (1, 1)),
    Case("collective_counted", (1, 1), options=REORDER),
    Case("collective_says", (1, 1)),
    *(Case("collective_left", env={"HOW": how}) for how in ("closed", "ends", "quits", "never")),
    *(
        Case("collective_mortal", env={"KIND": kind, "STEP": "1"}, code=KILLED)
        for kind in ("0", "3", "5", "6")
    ),
    Case("detail", (1, 1)),
    *(Case("ends_halfway", (2, 2), ("fifo", how)) for how in ("returns", "closes", "exits")),
    Case("early_put", (1, 1)),
    Case("event_fd"),
    Case("event_fd", env={"DIES": "1"}, code=3, said="told\ntold\n"),
    *(Case("far_ends", (1, 1), (what,)) for what in ("barrier", "queries")),
    *(Case("far_ends", (2, 1), (what,)) for what in ("words-here", "fifo-here", "words")),
    Case("far_ends", (1, 2), ("fifo",)),
    Case("collective_hidden"),
    Case("lists_apart", (1, 1)),
    Case("lists_refused", (1, 1)),
    Case("lists_twice"),
    Case("last_word", (1, 1), code=KILLED, said="good"),
    Case("message_card", (1, 1)),
    Case("message_forged"),
    *(Case("message_last", (1, 1), options=options) for options in ((), REORDER)),
    Case("message_killed", options=("--fault", "kill card=1 at=500ms"), code=KILLED),
    Case("message_polled", (1, 1), options=REORDER),
    Case("message_reopen", (2, 2)),
    Case("message_sizes", (1, 1), env={"QUICK": "1"}, options=("--set", f"sram={8 << 22}")),
    *(
        Case("opens", (1, 2), (how,), code=code)
        for how, code in (("die", KILLED), ("fail", 4), ("end", 0), ("block", KILLED))
    ),
    Case("after_the_end", (1, 2), options=REORDER, said="good"),
    *(Case("nobody_reads", (2, 1), options=options) for options in ((), REORDER)),
    Case("overlooked", (1, 2), options=("--fault", "extra-polls=0.5"), said="good"),
    Case("outside", (1, 1), said="card 1 of 2"),
    Case("full_at_close", (1, 1)),
    Case("last_barrier", (2, 2), env={"SEED": "77", "LINGERS_MS": "0"}),
    Case("sized", (1, 1)),
    Case("waiting", (1, 1)),
    Case("watched_calls", (1, 1)),
    Case("watched_layers", (1, 1)),
)
"""Cards of both hosts in functional mode."""

ALONE = (
    *(Case(name, (1, 1)) for name in ("client_card", "client_limits", "client_receivers")),
    *(Case(name, (1, 1)) for name in ("message_wrap", "openings")),
    Case("changed_headers", (1, 1), ("61",)),
    Case("short_memory", (1, 1), ("calls",)),
    Case("short_memory", (1, 1), ("reordered",), REORDER),
)
"""Programs of one card in a job with another host, where packets to itself take other code."""

_NO_CARD = "opens no card"
_PRELOAD = "is preloaded into another program"
_LAUNCHER = "is a test of the launcher's own functions, without programs"
_STANDSTILL = "makes standstills: test_hosts_looks.py"
_RESTART = "is killed and started again: test_hosts_return.py"
_TEAM_OF_ONE = "opens a team of all cards, and is to be the only one"
_MEMORY = "makes cards of one job in its own process, whose memory it is"

ELSEWHERE = {
    "fi_calls": "needs libfabric: test_fi.py",
    "mpi_calls": "is an MPI program, which runs on one host: test_fi.py",
    "pmi_calls": "is an MPI program, which runs on one host: test_fi.py",
    "message_costs": "measures model time, which timed mode has: test_message.py",
    "collective_patient": "sets the clock of its process forward",
    "forks": "gives a packet a millisecond, which another host may need",
    "checksum": _NO_CARD,
    "digest": _NO_CARD,
    "message_corpus": _NO_CARD,
    "slab_memory": _NO_CARD,
    "message_changed": "has a card in loopback, without a job",
    "harness": "is the main function of others",
    "launcher_parts": _LAUNCHER,
    "launcher_ends": _LAUNCHER,
    "launcher_files": _LAUNCHER,
    "launcher_posts": _LAUNCHER,
    "launcher_timed": _LAUNCHER,
    "late_connect": _NO_CARD,
    "load_parts": "is a test of vicload's own functions, on a client that is none",
    "hold_answer": _PRELOAD,
    "kill_order": _PRELOAD,
    "mute_agent": _PRELOAD,
    "no_noexec": _PRELOAD,
    "no_pidfd": _PRELOAD,
    "parts": _MEMORY,
    "lines": _MEMORY,
    "standstill": _STANDSTILL,
    "idle": _STANDSTILL,
    "looker": "outlives a launcher that is killed, which a host of a job does not",
    "every_wait": "takes commands: test_every_wait.py",
    "joined": "reads commands from standard input; other programs join (test_hosts_join.py)",
    "fifo_forged": "forges a FIFO for senders of the same host; what another host says is "
    "fuzzed (tests/fuzz/targets/frames.c)",
    "fifo_filling": "plays a sender of the same host in its memory",
    "no_memory": _TEAM_OF_ONE,
    "watched_each": _TEAM_OF_ONE,
    "close_in_call": _TEAM_OF_ONE,
    "deaths": "is killed at its steps: test_deaths.py",
    "hooked": "is about threads of timed mode: test_timed_hooks.py",
    "receivers": _STANDSTILL,
    "shared_objects": "is about threads of timed mode: test_timed_threads.py",
    "small_stack": "has one card; test_timed_hooks.py",
    "fake_broker": "stands behind vicload in a test of its own (test_hosts_programs.py)",
    "player": "compares what has come after each call with a plain card: between hosts no time "
    "is promised for that",
    "late_sender": "ends and leaves a process: test_hosts.py",
    "mortal": _RESTART,
    "halfway": _RESTART,
    "comeback": _RESTART,
    "message_mortal": _RESTART,
    "message_return": _RESTART,
}
"""Programs that do not run over hosts, and why."""
