"""What the page rests on: claims judged, weak parameters, and where every run came from."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dvsim.report.parameters import users_text
from dvsim.report.prepare import Group, size_text
from dvsim.report.table import Cell, Table, number
from dvsim.study.amounts import MISSING

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation
    from dvsim.study.points import PointsStudy
    from dvsim.study.run import Run

ORIGIN = ("dvsim", "commit", "started", "work (s)", "its time (s)", "CPU", "system", "Python")
NOT_RUN = "not run"  # so begins the note of a claim about runs that are not there
CLAIM_MARKS = {
    "confirmed": ("✓ confirmed", "pass"),
    "refuted": ("✗ refuted", "fail"),
    "not reproduced": ("– not reproduced", "info"),
    "not testable": ("– not testable", "info"),
}


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
        text, status = CLAIM_MARKS.get(claim.verdict, (claim.verdict, "info"))
        rows.append(
            [
                Cell(claim.id),
                Cell(claim.section),
                Cell(claim.text, "prose"),
                Cell(claim.condition),
                Cell(claim.expected),
                Cell(claim.simulated),
                Cell(claim.interval),
                Cell(text, status=status, raw=claim.verdict),
                Cell(claim.basis if claim.value is not None else MISSING),
                Cell(" ".join(part for part in (claim.explanation, claim.note) if part), "prose"),
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
            "95 % interval",
            "verdict",
            "fitted to it?",
            "note",
            "to see it again",
        ],
        rows=rows,
    )


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
