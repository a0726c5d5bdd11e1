"""What a page rests on: claims judged, weak parameters, and where every run came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dvsim.study.number_text import MISSING
from dvsim.study.table import Cell, Table, number, table_of
from dvsim.table.stages import busiest

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation
    from dvsim.scenario.types import Card, Parameter
    from dvsim.table.manifest import Manifest
    from dvsim.table.result import Result

# from the weakest; what is published or measured is not listed
WEAK = ("assumed", "unverified", "calibrated")
ROLES = {
    **{"fabric": "card", "link": "card", "socket": "bridge", "disk": "storage", "network": "host"},
    **dict.fromkeys(("queue", "leader", "follower", "confirms"), "rabbit"),
}
"""Stage -> the card with its numbers, where they are not called alike."""
NOT_RUN = "not run"  # so begins the note of a claim about runs that are not there
CLAIM_STATUS = {"confirmed": "pass", "refuted": "fail"}


def claims_untold(validation: Validation | None) -> list[str]:
    """Name the claims that these runs cannot decide, since what they speak about was not run."""
    claims = () if validation is None else validation.claims
    return [claim.id for claim in claims if claim.note.startswith(NOT_RUN)]


def claims_table(validation: Validation) -> Table:
    """Tabulate every claim that was decided: what came out, and how to see it again."""
    rows = []
    untold = set(claims_untold(validation))
    for claim in validation.claims:
        if claim.id in untold:
            continue
        note = " ".join(part for part in (claim.explanation, claim.note) if part)
        rows.append(
            {
                "claim": claim.id,
                "section": claim.section,
                "what is claimed": Cell(claim.text, "prose"),
                "condition": claim.condition,
                "expected": claim.expected,
                "simulated": claim.simulated,
                "95 % interval": claim.interval,
                "verdict": Cell(claim.verdict, status=CLAIM_STATUS.get(claim.verdict, "info")),
                "fitted to it?": Cell(claim.basis if claim.value is not None else MISSING),
                "note": Cell(note, "prose"),
                "to see it again": Cell(claim.command, "code"),
            }
        )
    caption = "What the source claims, and what the simulation says about it."
    return table_of("claims", caption, rows)


def origin_table(
    results: Sequence[Result], names: Sequence[Mapping[str, str]], name: str = "manifest"
) -> Table:
    """Tabulate where each result came from; `names` has the cells that name each."""
    return table_of(
        name,
        "Every run: how it was asked for, and where and when it was made.",
        [
            {**cells, "seed": number(result.seed), "replications": number(result.replications)}
            | origin(result.manifest)
            for result, cells in zip(results, names, strict=True)
        ],
    )


def origin(known: Manifest) -> dict[str, str]:
    """Return by its manifest where and when a run was made, by heading."""
    commit = MISSING if known.git is None else known.git.commit[:12]
    dirty = known.git is not None and known.git.dirty
    return {
        "dvsim": known.version,
        "commit": Cell(f"{commit} + changes" if dirty else commit, "code"),
        "started": known.started,
        "work (s)": number(known.wall_s),
        "its time (s)": number(known.counts.get("simulated_s")),
        "CPU": known.host.cpu,
        "system": known.host.system,
        "Python": known.host.python,
    }


def cards_table(runs: Sequence[Result]) -> Table:
    """Tabulate the cards and reference files that the runs used, with the hash of each."""
    used: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        for item in [*run.manifest.cards, *run.manifest.reference]:
            used.setdefault((item.role, item.name, item.blake2b), []).append(run.scenario.name)
    rows = [
        {"role": role, "name": name, "hash": Cell(digest, "code")}
        | {"used by": users(names, len(runs))}
        for (role, name, digest), names in sorted(used.items())
    ]
    caption = "Cards and reference data, with the BLAKE2b hash of what they say."
    return table_of("cards", caption, rows)


def used_cards(run: Result) -> list[Card]:
    """Return the cards that a run or study uses; a switch alone has none."""
    return [card for _, card in run.scenario.used_cards()]


def parameters_table(runs: Sequence[Result], called: str = "parameters") -> Table:
    """Tabulate the parameters that nobody published or measured.

    Those of the cards that set the pace of a run come first, then the weakest. A parameter that
    several runs share is one row; one that a run overrides is a row of its own.
    """
    used: dict[tuple[str, str, str, str], tuple[Parameter, list[str]]] = {}
    pace = set()
    for run in runs:
        pace |= pace_cards(run)
        for card in used_cards(run):
            for parameter in card.parameters.values():
                if parameter.confidence in WEAK:
                    key = (card.name, parameter.name, parameter.text, parameter.confidence)
                    used.setdefault(key, (parameter, []))[1].append(run.scenario.name)
    order = sorted(used, key=lambda key: (key[0] not in pace, WEAK.index(key[3]), *key))
    rows = []
    for key in order:
        card_name, name, text, confidence = key
        parameter, names = used[key]
        fitted = "" if parameter.fitted is None else f". Fitted to: {parameter.fitted}"
        rows.append(
            {
                "parameter": Cell(f"{card_name}.{name}", "code"),
                "value": text,
                "confidence": Cell(confidence, status="info"),
                "matters": Cell("busiest stage" if card_name in pace else "", status="strong"),
                "source": Cell(parameter.source + fitted, "prose"),
                "set in": Cell(parameter.origin, "code"),
                "used by": users(names, len(runs)),
            }
        )
    return table_of(
        called,
        "Parameters that are assumed, unverified or calibrated; first those of the card of the "
        "busiest stage of a run, since an error in them shows in its rates at once.",
        rows,
    )


def users(names: Sequence[str], total: int) -> Cell:
    """Return which runs use a value; the CSV names all of them."""
    text = ", ".join(names) if len(names) <= 2 else f"{len(names)} of {total} runs"
    if len(names) == total:
        text = "every run" if total > 1 else names[0]
    return Cell(text, raw=" ".join(dict.fromkeys(names)))


def pace_cards(result: Result) -> set[str]:
    """Name the card that holds the numbers of the busiest stage of a run."""
    stage = busiest(result.values) if result.sampled and result.simulated else None
    card = None if stage is None else result.scenario.cards.get(ROLES.get(stage.name, stage.name))
    return set() if card is None else {card.name}


def commands_of(runs: Sequence[Result], command: str | None) -> list[str]:
    """Give the commands that repeat the page: those that made the runs, then the page's own."""
    texts = (run.manifest.command for run in runs)
    return list(dict.fromkeys(text for text in [*texts, command] if text))
