"""`dvsim run`: run scenarios, print their columns or points, keep run folders."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.names import complete_scenarios
from dvsim.cli.options import RunOptions, precision_option, run_options, with_options
from dvsim.cli.plain_text import WIDTH, wrapped
from dvsim.cli.terminal import complain, say, say_json, tell
from dvsim.cli.tracing import Trace, run_traced, trace_options
from dvsim.errors import Fault, RunFailed, ScenarioError

if TYPE_CHECKING:
    from dvsim.cli.options import RunOptions
    from dvsim.emulation.settings import Emulation
    from dvsim.scenario.spec import Spec
    from dvsim.study.table import Table
    from dvsim.study.whatif import Answer
    from dvsim.table.result import Result


OPTIONS = (
    *("backend", "urls", "credentials", "clusters", "nodes", "at_least_once"),
    *("hosts", "broker_hosts", "launch_with", "interface", "bridge"),
)


def emulation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a verb, which gets ``emulation``: what the backend is, when asked."""

    @functools.wraps(command)
    def packed(**given: Any) -> None:  # noqa: ANN401 - as in click
        own = {name: given.pop(name) for name in OPTIONS}
        command(emulation=functools.partial(_chosen, **own), **given)

    return with_options(
        packed,
        click.option(
            "--backend",
            default="sim",
            show_default=True,
            help="sim: the model. emu: real programs and RabbitMQ on this machine.",
        ),
        _emu(
            "--url",
            "your broker, amqp://HOST[:PORT][/VHOST]. Repeatable: the n-th is for receiver n."
            "  [default: VICBRIDGE_URL, see dvsim broker env]",
            "urls",
            multiple=True,
            metavar="URL",
        ),
        _emu(
            "--credentials", "file with user:password for --url.", type=click.Path(path_type=Path)
        ),
        _emu("--clusters", "private RabbitMQ clusters.  [default: 2]", type=int),
        _emu("--nodes", "nodes of each cluster.  [default: 3]", type=int),
        _emu("--at-least-once", "with publisher confirms, unlike the paper.", is_flag=True),
        _emu("--bridge", "your bridge in vicbridge's place, as the shell runs it.", metavar="CMD"),
        _emu(
            "--hosts",
            "N cards on host A, then M on B; senders first, then bridges.",
            metavar="A:N,B:M",
        ),
        _emu(
            "--broker-hosts",
            "the host of each cluster.  [default: that of its bridge]",
            metavar="A,B",
        ),
        _emu("--launch-with", "how to run a command on {host}.  [default: ssh]", metavar="COMMAND"),
        _emu("--interface", "network interface between the hosts.", metavar="NAME"),
    )


def _emu(
    name: str,
    what: str,
    *names: str,
    **how: Any,  # noqa: ANN401 - as in click
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(name, *names, help=f"emu: {what}", **how)


def _chosen(
    backend: str,
    urls: tuple[str, ...],
    credentials: Path | None,
    clusters: int | None,
    nodes: int | None,
    at_least_once: bool,
    hosts: str | None,
    broker_hosts: str | None,
    launch_with: str | None,
    interface: str | None,
    bridge: str | None,
) -> str | Emulation:
    from dvsim.emulation.own_bridge import OwnBridge
    from dvsim.emulation.settings import CLUSTERS, Emulation, Hosts

    private = {"--clusters": clusters, "--nodes": nodes}
    on_hosts = {
        "--broker-hosts": broker_hosts,
        "--launch-with": launch_with,
        "--interface": interface,
    }
    emulated = {
        "--hosts": hosts,
        "--bridge": bridge,
        **on_hosts,
        "--url": urls or None,
        "--credentials": credentials,
        "--at-least-once": at_least_once or None,
        **private,
    }
    wrong: dict[str, object] = {}
    if backend == "sim":
        wrong, reason = {**emulated}, "is for --backend emu"
    elif hosts is None and any(value is not None for value in on_hosts.values()):
        wrong, reason = {**on_hosts}, "is for --hosts"
    elif urls:
        wrong, reason = {**private}, "is for private brokers, and --url names others"
    elif broker_hosts is None and not any(value is not None for value in private.values()):
        urls = tuple(os.environ.get("VICBRIDGE_URL", "").split())  # of dvsim broker env
        if urls and not any("@" in url for url in urls):
            complain(f"brokers: {' '.join(urls)} (VICBRIDGE_URL)")
    faults = [Fault(name, None, "", reason) for name, value in wrong.items() if value is not None]
    if faults:
        raise ScenarioError(faults)
    if backend != "emu":
        return backend
    return Emulation(
        clusters=CLUSTERS if clusters is None else clusters,
        nodes=nodes,
        urls=urls,
        credentials=credentials,
        at_least_once=at_least_once,
        bridge=None if bridge is None else OwnBridge(bridge),
        hosts=None if hosts is None else Hosts.of(hosts, broker_hosts, launch_with, interface),
    )


Pair = tuple["Result", "Result"]
"""A changed result, and the one of the unchanged scenario."""


def pairs_of(
    options: RunOptions,
    results: Sequence[Result],
    backend: str | Emulation,
    *,
    baseline: bool,
) -> list[Pair]:
    """Return each changed result beside that of the unchanged scenario, asked in the same way.

    One that is neither among the results nor kept is run if `baseline` says so, and else left out.
    """
    from dvsim.study.precision import pairs_among

    changed = [
        (result, base) for result in results if (base := _base_of(result.scenario)) is not None
    ]
    if not changed:
        return []
    if baseline:
        there = pairs_among(results)
        rest: dict[int, list[Spec]] = {}  # by replications, to have as many pairs
        for run, base in changed:
            if not any(run is pair[0] for pair in there):
                rest.setdefault(run.replications, []).append(base)
        by_name = {base.scenario.name: base for _, base in there}
        for times, bases in rest.items():
            made = replace(options, replications=times).run(bases, backend, scale=1.0)
            by_name |= {result.scenario.name: result for result in made}
        return [(result, by_name[base.name]) for result, base in changed]
    kept = (_kept(options, result, base, backend) for result, base in changed)
    return [pair for pair in kept if pair is not None]


def with_bases(scenarios: Sequence[Spec]) -> list[Spec]:
    """Return scenarios, and the unchanged one of each that was changed."""
    return [*scenarios, *filter(None, map(_base_of, scenarios))]


def pair_lines(pairs: Sequence[Pair]) -> Iterator[str | Table]:
    """Yield how much more each changed result gives: of systems the ratio of their rates."""
    from dvsim.study.changes import changes_of
    from dvsim.table.compare import rate_ratio, side_by_side
    from dvsim.view.comparison import comparison_sections
    from dvsim.view.terminal import lines

    for run, base in pairs:
        if not run.sampled:
            yield from lines(comparison_sections(side_by_side([base, run])))
        elif (times := rate_ratio(base, run)) is not None:
            text = f"{times.text()} times {base.scenario.name}, which gives {base.rate}"
            yield f"{changes_of(run.scenario).name}: {text}"


def _base_of(scenario: Spec) -> Spec | None:
    from dvsim.study.changes import changes_of, of_the_same_length

    changes = changes_of(scenario)
    return of_the_same_length(changes, scenario) if changes.said else None


def _kept(options: RunOptions, run: Result, base: Spec, backend: str | Emulation) -> Pair | None:
    from dvsim.contract.kind import How
    from dvsim.study.execute import backend_of
    from dvsim.study.store import find_kept

    how = How(run.manifest.version, run.seed, run.replications, backend_of(backend))
    try:
        other = find_kept(how, options.out, base)
    except RunFailed:  # nobody asked for it
        return None
    return None if other is None else (run, other)


@click.command()
@click.argument(
    "scenarios", nargs=-1, required=True, metavar="SCENARIO...", shell_complete=complete_scenarios
)
@run_options
@emulation_options
@trace_options
@precision_option("the rate (of a what-if, the ratio)")
@click.option(
    "--verbose",
    is_flag=True,
    help="Also print each column as the paper does, and how busy each stage was.",
)
@click.option(
    "--baseline",
    is_flag=True,
    help="With --set: also run the unchanged scenario, and print the ratio to it. Without this "
    "option the ratio is printed if the unchanged run is kept.",
)
def run(
    scenarios: tuple[str, ...],
    options: RunOptions,
    verbose: bool,
    baseline: bool,
    emulation: Callable[[], str | Emulation],
    trace: Trace | None,
    precision: float | None,
) -> None:
    """Run scenarios and print the results, such as rates and what limits them.

    SCENARIO is a name (h3/dv-8, switch/load-latency), a campaign, which is several scenarios
    (h3/published), a pattern ('h3/dv-*') or a TOML file.
    Results are kept: the same command with the same version and seed prints them again.
    With --backend emu real programs send the messages across emulated cards, or over TCP, into a
    real RabbitMQ on this machine. That is a measurement, kept and reported like a simulated run.
    """
    from dvsim.study.execute import DEFAULT_PRECISION
    from dvsim.study.precision import reached, reached_texts
    from dvsim.study.whatif import answers
    from dvsim.table.compare import side_by_side
    from dvsim.table.reply import Reply

    loaded, how = options.load(scenarios), emulation()
    if precision is None and options.replications is None and how == "sim" and trace is None:
        precision = DEFAULT_PRECISION
    if baseline and precision is not None:  # the ratio of both shall be as precise
        loaded = with_bases(loaded)
    if trace is None:
        runs = options.run(loaded, how, precision)
    elif precision is not None:
        raise click.UsageError(
            "--precision is not of a run that is traced, which has one replication"
        )
    else:
        runs = [run_traced(options, loaded, how, trace)]
    pairs = pairs_of(options, runs, how, baseline=baseline)
    if baseline:
        runs += [base for _, base in pairs if base not in runs]
    found, written = answers(runs), []
    if options.report is not None:
        from dvsim.evidence.validation import validate

        judged = [run for run in runs if run.judged]
        written = options.write_report(runs, validate(judged) if judged else None)
    if options.as_json:
        made = Reply.of()
        numbers: dict[int, list[int]] = {}
        for one in (*runs, *(base for _, base in pairs)):
            numbers[id(one)] = numbers.get(id(one)) or made.result(one)
        for own, base in pairs:
            sides = [base, own]
            made.hold(side_by_side(sides), [numbers[id(one)] for one in sides])
        made.say(answers=[answer.put(made, numbers) for answer in found])
        if precision is not None:
            made.say(precision=[known._asdict() for known in reached(runs)])
        say_json(made)
        return
    _print_answers(found)
    answered = [run for answer in found for run in answer.runs]
    _print([run for run in runs if run not in answered], verbose=verbose)
    tell(pair_lines(pairs), indent=2)
    if precision is not None:
        for text in reached_texts(reached(runs), precision):
            say(text)
    for path in written:
        say(f"report: {path}")


def _print_answers(found: Sequence[Answer]) -> None:
    if not found:
        return
    from dvsim.view.blocks import Section
    from dvsim.view.terminal import lines
    from dvsim.view.whatif import answer_blocks

    for answer in found:
        say(f"{answer.whatif.name}: {answer.whatif.title}")
        tell(lines([Section("answer", "The answer", answer_blocks(answer))]), indent=2, width=WIDTH)
        if answer.runs[0].folder is not None:
            say(f"  kept in {answer.runs[0].folder.parents[2]}")
        say("")


def _print(results: Sequence[Result], *, verbose: bool) -> None:
    from dvsim.contract.find import kind_named

    for name, group in groupby(results, key=lambda result: result.scenario.KIND):
        kind, some = kind_named(name), list(group)
        if not some[0].sampled:
            for study in some:
                lines = kind.lines(study) if verbose else kind.answers([study])
                _tell(_answer_first(study, lines))
                if verbose:
                    say("")
            continue
        if verbose:
            for result in some:
                _tell(kind.lines(result))
                say("")
        if not verbose or len(some) > 1:
            _tell(kind.answers(some))


def _answer_first(study: Result, lines: Iterator[str | Table]) -> Iterator[str | Table]:
    from dvsim.view.axes import Sweep
    from dvsim.view.saturation import saturation_sentence

    yield next(lines)
    yield from wrapped(saturation_sentence(Sweep(study)))
    yield from lines


def _tell(lines: Iterator[str | Table]) -> None:
    say(next(lines))
    tell(lines, indent=2)
