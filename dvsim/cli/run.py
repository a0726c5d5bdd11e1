"""`dvsim run`: run scenarios, print their columns or points, keep run folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from dvsim.cli.emulation import emulation_options
from dvsim.cli.names import complete_scenarios
from dvsim.cli.options import RunOptions, precision_option, run_options
from dvsim.cli.plain_text import WIDTH, wrapped
from dvsim.cli.terminal import say, say_json, tell
from dvsim.cli.tracing import Trace, run_traced, trace_options
from dvsim.cli.unchanged import pair_lines, pairs_of, with_bases

if TYPE_CHECKING:
    from dvsim.emulation.settings import Emulation
    from dvsim.study.table import Table
    from dvsim.study.whatif import Answer
    from dvsim.table.result import Result


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
    from dvsim.study.arguments import DEFAULT_PRECISION
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
