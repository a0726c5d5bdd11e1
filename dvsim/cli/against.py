"""``dvsim validate --against``: runs beside measurements of a laboratory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.options import RunOptions, with_options
from dvsim.cli.plain_text import WIDTH
from dvsim.cli.terminal import say, say_json, tell, typed_text
from dvsim.errors import CriterionFailed, ScenarioError

if TYPE_CHECKING:
    from dvsim.evidence.lab.judge import Judged
    from dvsim.table.reply import Reply
    from dvsim.table.result import Result


def lab_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what is said of a file of measurements, and of how it is compared, to a verb."""
    return with_options(
        command,
        click.option(
            "--lab",
            "meta",
            type=click.Path(path_type=Path),
            metavar="META.toml",
            help="Describes FILE: unit, sample, source, tolerances.  [default: FILE.toml]",
        ),
        click.option(
            "--as",
            "taken",
            type=click.Choice(["mean", "same"]),
            help="If samples of FILE and run differ in kind: compare only means, or all the same.",
        ),
    )


def against_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `validate_against` to a verb."""
    against = click.option(
        "--against",
        metavar="FILE",
        help="Measurements: CSV or Parquet of statistics or samples, a log or CSV of RabbitMQ "
        "PerfTest, JSON of the OpenMessaging Benchmark.",
    )
    return against(lab_options(command))


def validate_against(
    campaign: str,
    options: RunOptions,
    file: str,
    meta: Path | None,
    taken: Any,  # noqa: ANN401 - a literal that click has checked
    *,
    strict: bool,
) -> None:
    """Run the scenarios of which something was measured, and compare."""
    from dvsim.evidence.lab.judge import judge
    from dvsim.evidence.lab.match import at_all_sizes, chosen, own_metrics
    from dvsim.evidence.lab.read import read_lab
    from dvsim.scenario.find import is_file, scenario_root
    from dvsim.view.lab import lab_page, lab_sections
    from dvsim.view.terminal import lines

    if options.report is not None and options.report.suffix not in {".html", ".htm"}:
        message = f"with --against the report is a page, FILE.html, not {options.report.name}"
        raise ScenarioError.at("--report", message)
    whole = is_file(scenario_root() / campaign / "validation.toml")
    name = f"{campaign.rstrip('/')}/validation" if whole else campaign
    scenarios = options.load([name])
    data = read_lab(file, meta, own_metrics(scenarios))
    runs = options.run(chosen(at_all_sizes(scenarios, data, taken), data, taken))
    judged = judge(runs, data, taken)
    if options.report is not None:
        from dvsim.view.html import write

        write(options.report, lab_page(runs, judged, data, typed_text()))
    if options.as_json:
        say_json(_reply(runs, judged))
    else:
        if options.scale not in (None, 1):
            say(f"messages scaled by {options.scale:g}\n")
        tell(lines(lab_sections(judged, data)), indent=2, width=WIDTH)
        for run in runs:
            if run.folder is not None:
                say(f"kept {run.scenario.name}: {run.folder}")
        if options.report is not None:
            say(f"report: {options.report}")
    if strict and not judged.passed:
        raise CriterionFailed(judged.headline)


def _reply(runs: Sequence[Result], judged: Judged) -> Reply:
    from dvsim.table.reply import Reply, against, records

    made, cases = Reply.of(), []
    for run in runs:
        made.result(run, numbers=False)
    for item in judged.cases:
        case, own, named = item.case, item.simulated, item.name
        keys = {"case": named, "scenario": own.scenario}
        point, lab = made.at("sim", keys), made.at("lab", keys, source=judged.file)
        asked = {"component": own.what, "unit": case.unit}
        row: Any  # a named tuple
        for row in item.rows.itertuples(index=False):
            there = made.add(lab, row.statistic, row.lab, n=1, **asked)
            ends = {"low": row.low, "high": row.high, "n": own.replications}
            told = made.add(point, row.statistic, row.simulated, **ends, **asked)
            kind = "ratio" if row.lab else ""
            against(told, there, kind, row.simulated / row.lab if row.lab else 0.0)
            told.verdict = row.verdict
        facts = {key: getattr(own, key) for key in ("scenario", "what", "replications", "loop")}
        facts |= {"name": named, "where": case.where, "unit": case.unit, "metric": case.metric}
        facts |= {"message_bytes": own.message_bytes, "sample": str(case.sample)}
        facts |= {"count": case.count, "split": item.split, "distances": item.distances}
        zeros = item.zeros and item.zeros._asdict()
        cases.append(facts | {"notes": [*case.notes, *own.notes], "zeros": zeros})
    tables = {name: records(getattr(judged, name)) for name in ("criteria", "ratios")}
    tolerances = asdict(judged.tolerances)
    facts = vars(judged) | tables | {"tolerances": tolerances, "cases": cases}
    made.say(passed=judged.passed, **facts)
    return made
