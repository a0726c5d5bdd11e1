"""The page about studies: of each its answer, its curves, and its recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dvsim.errors import DvsimError
from dvsim.report.answers import answer
from dvsim.report.curves import curve_drawings
from dvsim.report.drawing import Drawing
from dvsim.report.evidence import claims_table, claims_untold, commands_of
from dvsim.report.lanes import lanes_of_study
from dvsim.report.page import render, resource
from dvsim.report.parameters import parameters_table, used_cards
from dvsim.report.pipeline import pipeline_drawing
from dvsim.report.recorded import Recording, Shape, recording
from dvsim.report.spread import spread_drawings
from dvsim.report.stage_curves import linear_drawing, stage_drawings
from dvsim.report.study_tables import origin_table, points_table, settings_table
from dvsim.report.sweep import Sweep
from dvsim.report.table import Table
from dvsim.report.verdict import claims_sentences

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation
    from dvsim.study.points import PointsStudy


@dataclass(frozen=True)
class Part:
    """One study as the page holds it.

    Attributes
    ----------
    name : str
        Identifier of its section.
    title, question : str
        Of its scenario.
    sentences : sequence of str
        Its answer, most important first.
    pipelines, curves, spreads : sequence of Drawing
        The way of a message, metrics over what was varied, and what lies behind their means.
    points : Table
        Every point.
    recording : Recording or None
        The recorded run, if there is one.
    """

    name: str
    title: str
    question: str
    sentences: Sequence[str]
    pipelines: Sequence[Drawing]
    curves: Sequence[Drawing]
    spreads: Sequence[Drawing]
    points: Table
    recording: Recording | None


def render_study_report(
    studies: Sequence[PointsStudy],
    validation: Validation | None = None,
    command: str | None = None,
    more: Sequence[Drawing] = (),
) -> str:
    """Make the report of one study or many; otherwise as `dvsim.report.render_report`."""
    from markupsafe import Markup

    if not studies:
        raise DvsimError("a report needs at least one study")
    parts = study_parts(studies, validation, command)
    played = any(part.recording for part in parts["parts"])
    script = Markup(resource("player.js")) if played else ""
    return render("studies.html.jinja", **parts, intro="", script=script, more=more)


def study_parts(
    studies: Sequence[PointsStudy], validation: Validation | None, command: str | None
) -> dict[str, Any]:
    """Make what a report of studies holds, in whatever form it is written."""
    claims = validation is not None and bool(validation.claims)
    return {
        "title": studies[0].scenario.title if len(studies) == 1 else f"{len(studies)} studies",
        "verdicts": claims_sentences(validation),
        "parts": [part_of(study, f"study-{number}") for number, study in enumerate(studies)],
        "claims": claims_table(validation) if validation and claims else None,
        "untold": claims_untold(validation),
        "settings": settings_table(studies),
        "parameters": parameters_table(studies) if any(map(used_cards, studies)) else None,
        "origin": origin_table(studies),
        "sources": list(dict.fromkeys(s.scenario.source for s in studies if s.scenario.source)),
        "commands": commands_of(studies, command),
    }


def part_of(study: PointsStudy, name: str) -> Part:
    """Make what the page shows of one study."""
    sweep = Sweep(study)
    scenario = study.scenario
    return Part(
        name=name,
        title=scenario.title,
        question=scenario.question,
        sentences=answer(sweep),
        pipelines=pipelines(sweep, name),
        curves=[*curve_drawings(sweep, name), *linear_drawing(sweep, name)],
        spreads=[*stage_drawings(sweep, name), *spread_drawings(sweep, name)],
        points=points_table(study, sweep, f"{name}-points"),
        recording=recorded(study, f"{name}-recorded"),
    )


def pipelines(sweep: Sweep, name: str) -> list[Drawing]:
    """Draw the way of a message, if its stages were kept."""
    if "stages" not in sweep.tables or sweep.tables["stages"].empty:
        return []
    lanes = lanes_of_study(sweep)
    return [pipeline_drawing(lanes, f"{name}-pipeline", "What limits it, at the end of each line")]


def recorded(study: PointsStudy, name: str) -> Recording | None:
    """Make the recorded run of a study of a switch, of its first point."""
    tables = study.tables
    if "events" not in tables or tables["events"].empty:
        return None
    shape = Shape(*(study.scenario.at(0).get(key) for key in ("height", "angles")))
    return recording(name, study.scenario.title, shape, tables["events"], tables["queues"])
