"""``dvsim consistency``: what data say by themselves, each finding with its evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import json_option
from dvsim.cli.terminal import say, say_json
from dvsim.errors import CriterionFailed, ScenarioError, nearest

if TYPE_CHECKING:
    from dvsim.consistency import Examination
    from dvsim.table.reply import Reply

PUBLISHED = ("h3_message_rates.csv", "h3_amqp_vs_dv.csv")
SENT = "h3_run_configuration.csv"
LIMITING = {"vortex": "port_rate", "link": "rate"}


@click.command("consistency")
@click.argument("data", nargs=-1)
@click.option("--messages", metavar="FILE", help="CSV of what was sent: message_bytes, messages.")
@click.option(
    "--limit",
    "limits",
    metavar="RATE",
    help="Rate of one port, '4.4 GB/s', or a card that states it.",
)
@click.option("--strict", is_flag=True, help="Exit with 3 if there is any finding.")
@json_option
def consistency(
    data: tuple[str, ...], messages: str | None, limits: str | None, strict: bool, as_json: bool
) -> None:
    """Look in data for contradictions and for signs of how they were made, without a model.

    DATA are CSV or Parquet files, examined together: published summaries in long form
    (columns transport, message_bytes, column, statistic, value), tables with several numbers side
    by side (a column 'statistic', or headings that end in avg, difference, ratio or percent), or
    raw samples (columns of numbers). Without DATA: the packaged published data.

    Looks for a grid of values, totals that are multiples of the messages, common factors, rates
    above a limit, quantiles and moments or tables that contradict themselves; docs/consistency.md
    says how. The strongest finding comes first; if there is none, the answer names the
    tests. A finding is no error: the exit code is 0.
    """
    from dvsim.consistency import examination
    from dvsim.consistency.text import lines, summary
    from dvsim.scenario.find import reference_root
    from dvsim.scenario.reference import published_transports

    most = None if limits is None else _rate(limits)
    if data:
        examined = examination(*data, messages=messages, limits=most)
    else:
        root = reference_root()
        ports = [(name, path.port) for name, path in published_transports().items() if path.port]
        examined = examination(
            *(root / name for name in PUBLISHED),
            messages=root / SENT if messages is None else messages,
            limits={name: _rate(card) for name, card in ports} if most is None else most,
        )
    if as_json:
        say_json(_reply(data or PUBLISHED, examined))
    else:
        texts = [line for finding in examined.findings for line in lines(finding)]
        for line in (*texts, *summary(examined)):
            say(line)
    if strict and examined.findings:
        many = len(examined.findings)
        raise CriterionFailed(f"{many} findings, the strongest: {examined.findings[0].what}")


def _rate(text: str) -> float:
    from dvsim.contract.load import load_card
    from dvsim.scenario.find import card_names
    from dvsim.scenario.units import UnitError, parse

    names = [name for kind in LIMITING for name in card_names(kind=kind)]
    if text in names:
        card = load_card(text)
        return float(card[LIMITING[card.kind]])
    try:
        return parse(text, "rate")
    except UnitError as error:
        hint = nearest(text, names) or error.hint
        message = f"{error.message}; or the name of a card: {', '.join(names)}"
        raise ScenarioError.at("--limit", message, hint=hint) from error


def _reply(data: Sequence[str], examined: Examination) -> Reply:
    from dvsim.table.reply import Reply

    rows = [
        asdict(finding)
        | {"strength": finding.strength}
        | {"log10_odds": None if math.isinf(finding.log10_odds) else finding.log10_odds}
        for finding in examined.findings
    ]
    looked = {key: value for key, value in vars(examined).items() if key != "findings"}
    return Reply.of(data=list(data), findings=rows, **looked)
