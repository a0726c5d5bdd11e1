"""``dvsim limit``: how far a key can go before a criterion fails, by bisection with confidence."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.names import complete_scenarios
from dvsim.cli.options import (
    check_alone,
    json_option,
    precision_option,
    quick_option,
    scale_option,
    seed_option,
    set_option,
    workers_option,
)
from dvsim.cli.terminal import complain, say, say_json, tell, typed_text
from dvsim.errors import Argument, ScenarioError
from dvsim.study.table import Table

if TYPE_CHECKING:
    from dvsim.contract.kind import Kind
    from dvsim.scenario.spec import Spec
    from dvsim.study.limit import Limit, Probe
    from dvsim.study.limit.criterion import Criterion
    from dvsim.table.reply import Reply


@click.command()
@click.argument("scenario", shell_complete=complete_scenarios)
@click.option(
    "--until",
    required=True,
    metavar="CRITERION",
    help="What must hold, such as 'acceptance > 0.99'.",
)
@click.option(
    "--vary",
    "key",
    help="The key to search.  [default: what the kind of scenario offers, a load or a rate]",
)
@click.option(
    "--between",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Where to search.  [default: where the kind of scenario expects the key]",
)
@click.option(
    "--tolerance",
    type=float,
    help="How exactly to find the limit.  [default: 0.001 of a load, a hundredth of a rate]",
)
@click.option(
    "--smallest", is_flag=True, help="Find the smallest value that holds, not the largest."
)
@click.option(
    "--replications",
    type=click.IntRange(2, 80),
    help="Runs of each tried value; doubled, up to 80, until it is decided or more would not "
    "decide it.  [default: 2, doubled up to 32]",
)
@precision_option("each metric of the criterion", "until the verdict is certain")
@seed_option
@scale_option()
@workers_option
@set_option
@json_option
@quick_option
def limit(
    scenario: str,
    until: str,
    key: str | None,
    between: tuple[float, float] | None,
    tolerance: float | None,
    smallest: bool,
    replications: int | None,
    precision: float | None,
    seed: int,
    scale: float | None,
    workers: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find the largest value of a key at which a criterion holds, by bisection.

    SCENARIO is of any kind that has keys with an order, such as an offered load. The criterion
    compares metrics of `dvsim run` with numbers, joined by 'and': 'acceptance > 0.99 and p99 <
    40', 'p99 < 1 ms', 'behind < 10 ms'. A value is decided when the 95 % interval of the metric
    lies on one side of the number. For each value of other keys that the scenario varies there
    is one limit. The search assumes that the criterion changes once.

    Example: dvsim limit switch/load-latency --until 'mean_latency < 20'
    """
    from dvsim.contract.find import kind_of
    from dvsim.contract.load import template
    from dvsim.scenario.override import Setting
    from dvsim.study.execute import check_asked
    from dvsim.study.limit import find_limits
    from dvsim.study.limit.criterion import parse_criterion
    from dvsim.study.limit.search import axis_of, steps_of
    from dvsim.study.precision import confidence_of

    if precision is not None:
        check_alone(precision, replications)
    check_asked(seed=seed, scale=scale, workers=workers)
    base = template(scenario)
    loaded = base.resolved(overrides).scenario.scaled(1.0 if scale is None else scale)
    kind = kind_of(loaded)
    criterion = parse_criterion(until, kind.metrics(loaded))
    if not kind.orders:
        message = f"kind '{kind.name}' has no keys with an order to search in"
        raise ScenarioError.at(Argument("key"), message)
    key = key or next(iter(kind.orders))
    searched = Setting(tuple(key.split(".")), None, key, Argument("vary"))
    if twice := base.twice([*overrides, searched]):
        raise ScenarioError(twice)
    short = key.rpartition(".")[2]
    if key == ".".join((*(loaded.place(short) or ()), short)):
        key = short
    axis = axis_of(key, between or None, tolerance, kind.orders)
    limits = list(
        find_limits(
            loaded,
            key,
            axis,
            criterion,
            smallest=smallest,
            seed=seed,
            replications=replications,
            precision=precision,
            workers=workers,
            on_probe=lambda probe: complain(f"{key} {probe.value:g}: {probe.verdict}"),
        )
    )
    command = typed_text()
    share = confidence_of(steps_of(replications, precision))
    if as_json:
        asked = {"scenario": loaded.name, "until": str(criterion), "vary": key, "seed": seed}
        asked |= {"between": [axis.low, axis.high], "smallest": smallest}
        asked |= {"precision": precision, "confidence": share}  # of each interval
        say_json(_reply(limits, key, kind, loaded, asked))
        return
    bounds = f"{axis.low:g} to {axis.high:g}"
    say(f"{loaded.name}: until {criterion}, {key} from {bounds}, seed {seed}")
    say(f"  ± is half of the {100 * share:.4g} % interval, 95 % over all looks at a probe together")
    for limit in limits:
        tell(_lines(limit, key, criterion, kind.flow_errors), indent=4)
        tell(_imprecise(limit, key, precision), indent=4)
    say(f"  $ {command}")


def _lines(
    limit: Limit, key: str, criterion: Criterion, errors: Collection[str] = ()
) -> Iterator[str | Table]:
    from dvsim.scenario.spec import point_text

    if limit.point:
        yield f"  {point_text(limit.point)}"
    yield f"  {answer(limit, key)}"
    head = [key, "replications", *(word for name in criterion.metrics for word in (name, "±")), ""]
    rows = []
    for probe in limit.probes:
        row = [f"{probe.value:g}", str(probe.replications)]
        for name in criterion.metrics:
            estimate = probe.estimates[name]
            nothing = math.isnan(estimate.value)
            row += ["-", "-"] if nothing else [f"{estimate.value:.4g}", f"{estimate.half:.2g}"]
        rows.append([*row, probe.verdict + (" *" if probe.notes else "")])
    groups = [1, *[2 for _ in criterion.metrics]]
    yield Table(head, rows, right=range(len(head) - 1), groups=groups)
    if any(probe.fidelity == "flow" for probe in limit.probes):
        yield f"    {_flow_text(limit, criterion, errors)}"
    noted = [probe for probe in limit.probes if probe.notes]
    if noted:
        yield f"    * not settled; at {key} {noted[0].value:g}: {noted[0].notes}"


def _imprecise(limit: Limit, key: str, precision: float | None) -> Iterator[str]:
    if precision is None:
        return
    wide = [probe for probe in limit.probes if _share(probe) > precision]
    if wide:
        worst = max(wide, key=_share)
        yield (
            f"    {len(wide)} of {len(limit.probes)} probes are not within {100 * precision:g}% "
            f"with {worst.replications} replications; the widest is ± {100 * _share(worst):.2g}%, "
            f"at {key} {worst.value:g}"
        )


def _share(probe: Probe) -> float:
    known = [estimate for estimate in probe.estimates.values() if estimate.half > 0]
    return max(
        (estimate.half / abs(estimate.value) if estimate.value else math.inf for estimate in known),
        default=0,
    )


def _flow_text(limit: Limit, criterion: Criterion, errors: Collection[str]) -> str:
    known = [metric for metric in criterion.metrics if metric in errors]
    unknown = [metric for metric in criterion.metrics if metric not in errors]
    scatter = any(probe.estimates[metric].half > 0 for probe in limit.probes for metric in unknown)
    parts = ["flow fidelity" + ("" if scatter else ": replications are equal")]
    if known:
        parts.append(f"± is the measured error of {', '.join(known)}")
    if unknown:
        worth = "and no part of ±" if scatter else "± 0 is not certain"
        parts.append(f"the error of {', '.join(unknown)} is not known, {worth}")
    return "; ".join(parts)


def answer(limit: Limit, key: str) -> str:
    """Return the answer in words."""
    if limit.outcome == "everywhere":
        return f"holds everywhere in the interval, at {key} {limit.holds:g} too"
    if limit.outcome == "nowhere":
        return f"holds nowhere in the interval, it fails at {key} {limit.fails:g} already"
    holds = "nowhere for certain" if limit.holds is None else f"at {key} {limit.holds:g}"
    fails = "nowhere for certain" if limit.fails is None else f"at {key} {limit.fails:g}"
    if limit.outcome == "reversed":
        return (
            f"holds {holds}, fails {fails}: it is the other end that is asked for, see --smallest"
        )
    if limit.outcome == "undecided":
        return f"undecided at a bound: holds {holds}, fails {fails}"
    times = sorted(probe.replications for probe in limit.probes if probe.verdict == "undecided")
    few = f"{times[0]} to " if times and times[0] < times[-1] else ""
    rest = f"; undecided between, with {few}{times[-1]} replications" if times else ""
    return f"holds {holds}, fails {fails}{rest}"


def _reply(
    limits: Sequence[Limit], key: str, kind: Kind, scenario: Spec, asked: dict[str, Any]
) -> Reply:
    from dvsim.scenario.spec import plain
    from dvsim.table.reply import Reply

    rows: list[dict[str, Any]] = []
    found, units = Reply.of(**asked, limits=rows), kind.metrics(scenario)
    for limit in limits:
        where = {name: plain(value) for name, value in limit.point.items()}
        known = {"outcome": limit.outcome, "holds": limit.holds, "fails": limit.fails}
        rows.append(where | known)
        for probe in limit.probes:
            how = {"probe": probe.verdict, "fidelity": probe.fidelity, "note": probe.notes or None}
            named = {"scenario": scenario.name, "kind": kind.name}
            point = found.at("sim", where | {key: probe.value}, **named, **how)
            for name, estimate in probe.estimates.items():
                ends = {"low": estimate.low, "high": estimate.high}
                found.add(
                    point, name, estimate.value, **ends, n=probe.replications, unit=units[name]
                )
    return found
