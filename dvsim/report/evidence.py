"""What the page rests on: claims judged, weak parameters, and where every run came from."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dvsim.report.prepare import Group, size_text
from dvsim.report.table import MISSING, Cell, Table, number
from dvsim.scenario.types import Scenario

if TYPE_CHECKING:
    from dvsim.results.points import PointsStudy
    from dvsim.results.run import Run
    from dvsim.scenario.types import Card, Parameter
    from dvsim.validation.types import Validation

# from the weakest; what is published or measured is not listed
WEAK = ("assumed", "unverified", "calibrated")
ORIGIN = ("dvsim", "commit", "started", "work (s)", "simulated (s)", "CPU", "system", "Python")
CLAIM_MARKS = {
    "confirmed": ("✓ confirmed", "pass"),
    "refuted": ("✗ refuted", "fail"),
    "not reproduced": ("– not reproduced", "info"),
}


def claims_table(validation: Validation) -> Table:
    """Tabulate every claim with what was claimed, what came out, and how to see it again."""
    rows = []
    for claim in validation.claims:
        text, status = CLAIM_MARKS.get(claim.verdict, (claim.verdict, "info"))
        rows.append(
            [
                Cell(claim.id),
                Cell(claim.section),
                Cell(claim.text),
                Cell(claim.condition),
                Cell(claim.expected),
                Cell(claim.simulated),
                Cell(text, status=status, raw=claim.verdict),
                Cell(claim.note),
                Cell(claim.command, "code"),
            ]
        )
    return Table(
        name="claims",
        caption="What the source claims, and what the simulation says about it.",
        head=[
            "claim",
            "section",
            "what is claimed",
            "condition",
            "expected",
            "simulated",
            "verdict",
            "note",
            "to see it again",
        ],
        rows=rows,
    )


def used_cards(one: Run | PointsStudy) -> list[Card]:
    """Return the cards that a run or study uses; a switch alone has none."""
    scenario = one.scenario
    if isinstance(scenario, Scenario):
        return list(scenario.system.cards.values())
    return [card for _, card in getattr(scenario, "cards", [])]


def parameters_table(runs: Sequence[Run | PointsStudy]) -> Table:
    """Tabulate the parameters that nobody published or measured, weakest first.

    A parameter that several runs share is one row; one that a run overrides is a row of its own.
    """
    used: dict[tuple[str, str, str, str], tuple[Parameter, list[str]]] = {}
    for run in runs:
        for card in used_cards(run):
            for parameter in card.parameters.values():
                if parameter.confidence in WEAK:
                    key = (card.name, parameter.name, parameter.text, parameter.confidence)
                    used.setdefault(key, (parameter, []))[1].append(run.scenario.name)
    rows = [
        [
            Cell(f"{card}.{name}", "code"),
            Cell(text),
            Cell(confidence, status="info"),
            Cell(source_text(parameter)),
            Cell(parameter.origin, "code"),
            Cell(users_text(names, len(runs)), raw=" ".join(dict.fromkeys(names))),
        ]
        for (card, name, text, confidence), (parameter, names) in sorted(
            used.items(), key=lambda item: (WEAK.index(item[0][3]), *item[0])
        )
    ]
    return Table(
        name="parameters",
        caption="Parameters that are assumed, unverified or calibrated.",
        head=["parameter", "value", "confidence", "source", "set in", "used by"],
        rows=rows,
    )


def source_text(parameter: Parameter) -> str:
    """Give the source of a value; a calibrated one says what it was fitted to."""
    if parameter.fitted is None:
        return parameter.source
    return f"{parameter.source}. Fitted to: {parameter.fitted}"


def users_text(names: Sequence[str], total: int) -> str:
    """Say which runs use a value."""
    if len(names) == total:
        return "every run" if total > 1 else names[0]
    return ", ".join(names) if len(names) <= 2 else f"{len(names)} of {total} runs"


def manifest_table(groups: Sequence[Group]) -> Table:
    """Tabulate where each run came from."""
    rows = []
    for group in groups:
        for entry in group.entries:
            run = entry.run
            rows.append(
                [
                    Cell(run.scenario.name),
                    Cell(size_text(group.message_bytes), raw=group.message_bytes),
                    Cell(run.backend),
                    number(run.seed),
                    number(run.replications),
                    *origin_cells(run.manifest),
                ]
            )
    return Table(
        name="manifest",
        caption="Every run: how it was asked for, and where and when it was made.",
        head=["scenario", "message", "backend", "seed", "replications", *ORIGIN],
        rows=rows,
    )


def origin_cells(known: Mapping[str, Any]) -> list[Cell]:
    """Tell by its manifest where and when a run was made; a cell for each of `ORIGIN`."""
    host = mapping(known.get("host"))
    return [
        Cell(text_of(known.get("version"))),
        Cell(commit_text(known.get("git")), "code"),
        Cell(text_of(known.get("started"))),
        number(seconds(known.get("wall_s"))),
        number(seconds(known.get("simulated_s"))),
        Cell(text_of(host.get("cpu"))),
        Cell(text_of(host.get("system"))),
        Cell(text_of(host.get("python"))),
    ]


def cards_table(runs: Sequence[Run]) -> Table:
    """Tabulate the cards and reference files that the runs used, with the hash of each."""
    used: dict[tuple[str, str, str], list[str]] = {}
    for run in runs:
        cards = run.manifest.get("cards") or []
        files = [
            {**mapping(file), "role": "reference"} for file in run.manifest.get("reference") or []
        ]
        for item in map(mapping, [*cards, *files]):
            key = (
                text_of(item.get("role")),
                text_of(item.get("name")),
                text_of(item.get("blake2b")),
            )
            used.setdefault(key, []).append(run.scenario.name)
    return Table(
        name="cards",
        caption="Cards and reference data, with the BLAKE2b hash of what they say.",
        head=["role", "name", "hash", "used by"],
        rows=[
            [
                Cell(role),
                Cell(name),
                Cell(digest, "code"),
                Cell(users_text(names, len(runs)), raw=" ".join(dict.fromkeys(names))),
            ]
            for (role, name, digest), names in sorted(used.items())
        ],
    )


def commands_of(runs: Sequence[Run | PointsStudy], command: str | None) -> list[str]:
    """Give the commands that repeat the page: those that made the runs, then the page's own."""
    made = [run.manifest.get("command") or [] for run in runs]
    texts = [line if isinstance(line, str) else shlex.join(map(str, line)) for line in made]
    return list(dict.fromkeys(text for text in [*texts, command] if text))


def mapping(value: object) -> Mapping[str, Any]:
    """Take a part of a manifest as a mapping; an older or foreign one may lack it."""
    return value if isinstance(value, Mapping) else {}


def text_of(value: object) -> str:
    """Write a value of a manifest, a dash where there is none."""
    return MISSING if value is None or value == "" else str(value)


def commit_text(git: object) -> str:
    """Write the commit that a run was made with, and whether files had been changed since."""
    state = mapping(git)
    commit = text_of(state.get("commit"))[:12]
    return f"{commit} + changes" if state.get("dirty") else commit


def seconds(value: object) -> float | None:
    """Take a number of seconds from a manifest."""
    return float(value) if isinstance(value, int | float) else None
