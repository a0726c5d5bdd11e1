"""An iteration over emulated cards: for each receiver a card that sends and one with a bridge.

All of it is one job: ``vicload`` on the first cards sends to ``vicbridge`` on the others, which
publishes to the brokers and counts what comes off its card, interval by interval, as the paper's
poll threads did. The job ends by itself: a bridge ends when all senders have, and the broker has
confirmed all that it took.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from dvsim.broker.files import PrivateFolder
from dvsim.core.probe import Counter
from dvsim.core.schedule import share
from dvsim.emulation.amqp import Queue
from dvsim.emulation.child import Child
from dvsim.emulation.drain import Sending, Sent
from dvsim.emulation.own_bridge import OwnBridge
from dvsim.emulation.settings import Emulation, Hosts
from dvsim.emulation.stats import Growth, Stats
from dvsim.emulation.targets import Watch
from dvsim.emulation.team import Place, Team
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.emu.left import leave_bridges, trace_options
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.native import emulator_prefix

PREFIX = "dvsim-emu-"  # of the folder where the programs of a job write
STEP_S = 0.1  # between two looks at the job
GIVE_UP_S = 20  # without a connection, after which a bridge ends
HOST_TIMEOUT = "5s"  # longer than the default, as the programs of a run use all cores of a host


def send(
    scenario: Scenario, queues: list[Queue], seed: int, emulation: Emulation, watch: Watch
) -> Sending:
    """Send the messages of an iteration and record what each bridge counted."""
    traces, team, own = emulation.traces, watch.targets.team, emulation.bridge
    shares = [share(scenario.workload.messages, len(queues), n) for n in range(len(queues))]
    growths = [Growth(messages) for messages in shares if own is not None]
    with closing(PrivateFolder(prefix=PREFIX)) as private:
        folder = private.path
        here = Place(folder)
        places = [here if team is None else team.place(card) for card in range(2 * len(queues))]
        for queue, place in zip(queues, places[len(queues) :], strict=True):
            target = queue.target
            place.reach(target)
            place.write(_file(queue, "credentials"), f"{target.user}:{target.password}\n")
        programs = _programs(scenario, queues, seed, emulation, places)
        command = _job(programs, emulation.hosts, list(_words(trace_options(traces))))
        # on hosts a job runs in the folder of the same name
        job = Child("the job of emulated cards", command, folder=Path("/") if team else None)
        try:
            while job.ended() is None:
                watch.look()
                for growth, queue in zip(growths, queues, strict=False):
                    growth.look(queue)
                time.sleep(STEP_S)
            if job.ended() != 0:
                raise job.failed() if team is None else _failed(job, team)
            for number, place in enumerate(places):
                queue, sends = queues[number % len(queues)], number < len(queues)
                for name in (
                    (_report(queue),) if sends else (_file(queue, "csv"), _file(queue, "prom"))
                ):
                    place.fetch(name, folder / name)
            files = {queue.receiver: folder / _file(queue, "csv") for queue in queues}
            sources: list[Path | pd.DataFrame] = list(files.values())
            for number, (queue, growth) in enumerate(zip(queues, growths, strict=False)):
                growth.look(queue)
                if not files[queue.receiver].exists():
                    sources[number] = growth.table
                    growth.table.to_csv(files[queue.receiver], index=False)  # of a trace
            stats = [Stats(source, _pieces(scenario)) for source in sources]
            reports = [_read(folder / _report(queue), job) for queue in queues]
            spent = [_cpu_s(folder / _file(queue, "prom"), job, own) for queue in queues]
            leave_bridges(traces, files)
        finally:
            job.end(at_once=True)  # a bridge would wait for what nobody needs any more
    for one, place in zip(stats, places[len(queues) :], strict=True):
        one.first_ns -= place.clock_ns
    zero_ns = min(stat.begin_ns() for stat in stats)
    records = {
        queue.receiver: stat.record(zero_ns) for queue, stat in zip(queues, stats, strict=True)
    }
    end_ps = max(
        (int((r.start_ps + r.duration_ps).max()) for r in records.values() if len(r[0])), default=0
    )
    messages = scenario.workload.messages
    senders_s = sum(float(report["cpu_ns"]) for report in reports) / 1e9
    bridges_s = job.usage_s - senders_s  # the launcher is in it, as it cannot be told from them
    if None not in spent:
        bridges_s = sum(filter(None, spent))
        if team is None:
            senders_s = job.usage_s - bridges_s
    counters = [
        *_counters(queues, stats, reports),
        Counter("sender", "cpu_per_message", senders_s / messages, "s"),
        Counter("bridge", "cpu_per_message", bridges_s / messages, "s"),
    ]
    return Sending(
        records=records,
        sent=[_sent(report, queue) for report, queue in zip(reports, queues, strict=True)],
        counters=counters,
        wall_s=end_ps / 1e12,
        commands=[_told(command)],
    )


def _failed(job: Child, team: Team) -> RunFailed:
    failed, reason = job.failed(), job.stderr()
    card = re.search(r"^vicrun: card (\d+) (?:ended|was killed)", reason, re.MULTILINE)
    if card is None or "vicrun: host " in reason:  # it names the host itself
        return failed
    return RunFailed(f"host {team.hosts.of_card(int(card[1]))}: {failed}")


def _told(command: list[str]) -> list[str]:
    return [Path(word).name if Path(word).is_absolute() else word for word in command]


def _programs(
    scenario: Scenario, queues: list[Queue], seed: int, emulation: Emulation, places: list[Place]
) -> Iterator[list[str]]:
    confirms, own = emulation.at_least_once, emulation.bridge
    senders, bridges = places[: len(queues)], places[len(queues) :]
    for queue, place in zip(queues, senders, strict=True):
        yield _sender(scenario, queues, queue, seed, confirms, place.folder)
    for queue, place in zip(queues, bridges, strict=True):
        asked = _asked(scenario, queue, place.folder)
        if own is not None:
            asked |= {"clients": len(queues), "at-least-once": int(confirms)}
            yield own.words(
                {f"BRIDGE_{name.upper().replace('-', '_')}": asked[name] for name in asked}
            )
            continue
        command = [place.bridge(), *_words({f"--{name}": value for name, value in asked.items()})]
        command += [
            "--give-up",
            str(GIVE_UP_S),
            "--no-declare",
            f"--exit-with-clients={len(queues)}",
        ]
        yield command if confirms else [*command, "--at-most-once"]


def _job(programs: Iterator[list[str]], hosts: Hosts | None, more: list[str]) -> list[str]:
    command = [str(emulator_prefix() / "bin" / "vicrun"), "--kill-after", "5s", *more]
    if hosts is not None:
        command += ["--hosts", hosts.text, "--launch-with", hosts.launch_with]
        command += ["--interface", hosts.interface] if hosts.interface is not None else []
        command += ["--host-timeout", HOST_TIMEOUT]
    for number, program in enumerate(programs):
        command += [*([":"] if number else []), "-n", "1", *program]
    return command


def _sender(
    scenario: Scenario, queues: list[Queue], queue: Queue, seed: int, confirms: bool, folder: Path
) -> list[str]:
    work = scenario.workload
    options = {
        "--bridge": len(queues) + queue.receiver - 1,
        "--key": queue.key,
        "--messages": share(work.messages, len(queues), queue.receiver - 1),
        "--bytes": work.message_bytes,
        "--seed": seed + queue.receiver,  # the bodies of two receivers differ
        "--report": folder / _report(queue),
    }
    if work.messages_per_second is not None:
        options["--rate"] = work.messages_per_second / len(queues)
    command = [str(emulator_prefix() / "bin" / "vicload"), "publish", *_words(options)]
    return command if confirms else [*command, "--at-most-once"]


def _asked(scenario: Scenario, queue: Queue, folder: Path) -> dict[str, Any]:
    system, probe = scenario.system, scenario.probe
    if system.bridge is None or probe.interval_ps is None:
        raise ValueError("emulated cards need a bridge card and a probe of intervals")
    return {
        "url": queue.target.url,
        "credentials": folder / _file(queue, "credentials"),
        "exchange": queue.exchange,
        "connections": system.bridge["sockets"],
        "piece-words": system.card["piece_words"],
        "stats": folder / _file(queue, "csv"),
        "stats-interval": f"{probe.interval_ps / 1e9:.9g}ms",
        "prometheus": folder / _file(queue, "prom"),
    }


def _pieces(scenario: Scenario) -> int:
    words = max(1, -(-scenario.workload.message_bytes // 8))
    return -(-words // int(scenario.system.card["piece_words"]))


def _words(options: dict[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        yield name
        yield str(value)


def _file(queue: Queue, ending: str) -> str:
    return f"bridge-{queue.receiver}.{ending}"


def _report(queue: Queue) -> str:
    return f"sender-{queue.receiver}.json"


def _cpu_s(path: Path, job: Child, own: OwnBridge | None) -> float | None:
    if own is not None and not path.exists():
        return None
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        seconds = [
            line.split()[1] for line in lines if line.startswith("process_cpu_seconds_total")
        ]
        return float(seconds[0])
    except (OSError, ValueError, IndexError) as error:
        raise job.failed(f"no CPU time of a bridge: {error}") from error


def _read(path: Path, job: Child) -> dict[str, Any]:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise job.failed(f"no report of a sender: {error}") from error
    if not isinstance(report, dict):
        raise job.failed(f"the report of a sender is {report!r}")
    return report


def _sent(report: dict[str, Any], queue: Queue) -> Sent:
    for what in ("returned", "refused"):
        if report.get(what):
            message = f"{report[what]:,} messages were {what} by the broker"
            raise RunFailed(f"receiver {queue.receiver}: {message}")
    return Sent(int(report["messages"]), int(report["bytes"]), str(report["digest"]))


def _counters(
    queues: list[Queue], stats: list[Stats], reports: list[dict[str, Any]]
) -> Iterator[Counter]:
    for queue, stat, report in zip(queues, stats, reports, strict=True):
        yield from stat.counters(f"bridge.{queue.receiver}")
        name = f"sender.{queue.receiver}"
        for metric in ("messages", "confirmed", "repeated"):
            yield Counter(name, metric, int(report.get(metric, 0)), "1")
        yield Counter(name, "wall_s", int(report.get("wall_ns", 0)) / 1e9, "s")
