"""Open questions: a campaign file with ``[[variant]]`` tables, and the scenarios that answer it.

Each member of the campaign is run as it is (the baseline) and once for each variant, with the same
seed, so that differences are of the variant and not of the draws. A variant is one more layer over
the member, after what the question itself changes in all of them::

    baseline = "one bridge process"
    campaign = ["../dv-8192"]

    [times]                       # of all, the baseline too
    "workload.messages" = 0.1

    [[variant]]
    name = "four"
    says = "four bridge processes"
    times = { "system.bridge.sockets" = 4 }

``times`` multiplies what the member has, so that a question stays the same question when a card
changes; the tables of the member's kind, such as ``workload`` and ``system``, set values, as in a
scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, create_model, model_validator

from dvsim.contract.kind import Kind
from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.scenario import find
from dvsim.scenario.document import Document, KeyPath, Origin, dotted
from dvsim.scenario.extend import read_chain
from dvsim.scenario.fields import Name, Text, unit_of, value_hints
from dvsim.scenario.input_errors import validate
from dvsim.scenario.schema import Table
from dvsim.scenario.spec import Spec, table_of
from dvsim.scenario.units import Law, format_value, is_number

Built = Callable[[Document, Path], tuple[Spec | None, list[Fault]]]
KindFor = Callable[[Document], Kind]

BASELINE = "baseline"
"""What the baseline is called in names of runs; no variant has this name."""

OUTSIDE = ("reference", "tolerance", "whatif")
"""Tables of scenarios that no question, nor a variant, puts anything over."""

Factor = Annotated[FiniteFloat, Field(ge=0, le=1e6)]


def _plain_name(name: str) -> str:
    if "/" in name or name == BASELINE:
        raise ValueError("must be without '/', and not 'baseline', which is what is not varied")
    return name


class Layer(Table):
    """What is changed of a scenario; `_model` adds its tables, which are checked as part of it."""

    times: dict[str, Factor] = Field(default_factory=dict, description="keys that are multiplied")


class VariantTable(Layer):
    """One way in which things could be otherwise."""

    name: Annotated[Name, AfterValidator(_plain_name)] = Field(description="in names of runs")
    says: Text = Field(description="what is different, as in '… would change nothing'")

    @model_validator(mode="after")
    def _differs(self) -> VariantTable:
        if not any(value for key, value in self if key not in ("name", "says")):
            raise ValueError("changes nothing; the baseline is run without being asked for")
        return self


def _named_once(variants: list[VariantTable]) -> list[VariantTable]:
    names = [variant.name for variant in variants]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"two are called '{twice[0]}'")
    return variants


class WhatIfFile(Layer):
    """An open question: scenarios as they are, and varied."""

    title: Text
    question: Text = Field(description="what the answer, one sentence and a table, is to")
    source: Text = Field(description="where it was left open")
    assumed: list[Text] = Field(min_length=1, description="what the answer rests on")
    baseline: Text = Field(description="what the scenarios are as they are, as in 'with …'")
    rate: Literal["all", "each"] = Field(
        "all", description="messages of all receivers together, or of each of them"
    )
    also: list[Text] = Field(default_factory=list, description="what else the answer tells")
    campaign: list[Text] = Field(min_length=1, description="names, relative to this folder")
    variant: Annotated[list[VariantTable], AfterValidator(_named_once)] = Field(min_length=1)


@cache
def _model(tables: tuple[str, ...]) -> type[WhatIfFile]:
    own: dict[str, Any] = {name: (dict[str, Any], Field(default_factory=dict)) for name in tables}
    variant = create_model("Variant", __base__=VariantTable, **own)
    varied = Annotated[list[variant], AfterValidator(_named_once)]
    own["variant"] = (varied, Field(min_length=1))
    return create_model("Question", __base__=WhatIfFile, **own)


def is_whatif(data: Mapping[str, Any]) -> bool:
    """Say whether the content of a file is that of an open question."""
    return "campaign" in data and "variant" in data


def variants(
    path: Path, question: Document, members: list[Path], built: Built, kind_for: KindFor
) -> list[Document]:
    """Return the scenarios that answer a question: of each member the baseline, then the variants.

    Args:
        path: The file of the question.
        question: What it contains.
        members: The scenario files of its campaign.
        built: Checks a document as a whole.
        kind_for: Tells the kind of a document.
    """
    bases = [read_chain(member) for member in members]
    for base, member in zip(bases, members, strict=True):
        if "campaign" in base.data:
            message = f"'{member.stem}' is a campaign, and only scenarios can be varied"
            raise ScenarioError([question.fault(("campaign",), message)])
    kinds = [kind_for(base) for base in bases]
    hints = {key: hint for kind in kinds for key, hint in value_hints(kind.Spec).items()}
    tables = tuple(key for key, hint in hints.items() if table_of(hint) and key not in OUTSIDE)
    model, faults = validate(_model(tables), question)
    if model is None:
        raise ScenarioError(faults)
    for place, name in enumerate(model.also):
        for kind in kinds:
            if name not in kind.measures:
                message = f"must be one of {', '.join(kind.measures)}, not '{name}'"
                near = nearest(name, kind.measures)
                raise ScenarioError([question.fault(("also", place), message, near)])
    faults = [
        fault
        for base, at in zip(bases, members, strict=True)
        for fault in _varied(question, base, at, tables)
    ]
    if faults:
        raise ScenarioError(faults)
    documents = []
    for base, member in zip(bases, members, strict=True):
        base.data.pop("reference", None)  # what is asked here was not published
        base.data.get("probe", {}).pop("columns", None)
        base.files.append(path)
        _lay(base, member, question, (), built, tables)
        documents.append(_named(base.copy(), path, member, model, None))
        for index in range(len(model.variant)):
            document = base.copy()
            _lay(document, member, question, ("variant", index), built, tables)
            documents.append(_named(document, path, member, model, index))
    return documents


def _varied(
    question: Document, base: Document, member: Path, sections: Sequence[str]
) -> Iterator[Fault]:
    fixed = {key for name in sections for key in question.data.get(name, {})}
    varied = base.data.get("vary", [])
    keys = {key for table in varied if isinstance(table, dict) for key in table} - fixed
    for index, variant in enumerate(question.data["variant"]):
        for name in sections:
            for key in keys.intersection(variant.get(name, {})):
                message = f"is varied by '{member.stem}'; fix it in [{name}] of the question first"
                yield question.fault(("variant", index, name, key), message)


def _lay(
    document: Document,
    member: Path,
    question: Document,
    at: KeyPath,
    built: Built,
    sections: Sequence[str],
) -> None:
    given = question.at(at) if at else question.data
    tables = {key: given[key] for key in sections if key in given}
    origins = {
        known[len(at) :]: Origin(origin.file, origin.line, at, fixes=True)
        for known, origin in question.origins.items()
        if known[: len(at)] == at
    }
    here = question.origin(at)
    layer = Document(tables, origins | {(): Origin(here.file, here.line, at, fixes=True)}).copy()
    document.merge(layer)
    times = given.get("times", {})
    if times:
        scenario, faults = built(document, member)
        if scenario is None:
            raise ScenarioError(faults)
        for key, factor in times.items():
            path = (*at, "times", key)
            own = (*at, *key.split("."))
            if question.at(own) is not None:
                message = (
                    f"is given twice: multiplied here, and set in line {question.origin(own).line}"
                )
                raise ScenarioError([question.fault(path, message)])
            tree = _multiplied(scenario, key, float(factor))
            if tree is None:
                near = nearest(key, _numbers(scenario))
                message = f"'{member.stem}' has no such number to multiply"
                raise ScenarioError([question.fault(path, message, near)])
            written = question.origin(path)
            # what comes out may be beyond a bound, and that is said of the key that multiplies
            origin = Origin(written.file, written.line, (*at, "times"), fixes=True)
            document.merge(Document(tree, {(): origin}))


def _multiplied(scenario: Spec, key: str, factor: float) -> dict[str, Any] | None:
    section, _, name = key.partition(".")
    if section == "system" and "." in name:
        role, _, name = name.partition(".")
        card = scenario.cards.get(role)
        old = None if card is None else card.parameters.get(name)
        if old is None or isinstance(old.value, str):
            return None
        source = f"what if: {factor:g} times {old.text}, which is {old.confidence}"
        text = format_value(_times(old.value, factor), old.dimension)
        entry = {"value": text, "confidence": "assumed", "source": source}
        return {"system": {role: {name: entry}}}
    if key not in _numbers(scenario):
        return None
    value = getattr(getattr(scenario, section), name)
    if value is None:
        return None
    new = max(1, round(value * factor)) if isinstance(value, int) else value * factor
    return {section: {name: new}}


def _times(value: float | Law, factor: float) -> float | Law:
    if isinstance(value, Law):
        return Law(round(value.fixed_ps * factor), round(value.per_byte_fs * factor))
    return round(value * factor) if isinstance(value, int) else value * factor


def _numbers(scenario: Spec) -> Iterator[str]:
    yield from scenario.MULTIPLIED or (
        dotted((*path, item.name))
        for path, table in scenario.tables()
        for item in fields(table)
        if is_number(getattr(table, item.name))
        and unit_of(type(table), item.name) is None
        and item.name not in scenario.keys
    )
    for role, card in scenario.cards.items():
        for name, parameter in card.parameters.items():
            if not isinstance(parameter.value, str):
                yield dotted(("system", role, name))


def _named(
    document: Document, path: Path, member: Path, model: WhatIfFile, index: int | None
) -> Document:
    varied = find.scenario_name(member)
    name = find.scenario_name(path)
    called = BASELINE if index is None else model.variant[index].name
    says = model.baseline if index is None else model.variant[index].says
    document.data |= {
        "name": f"{name}/{called}/{member.stem}",
        "title": f"{document.data.get('title')}: {says}",
        "question": model.question,
        "source": model.source,
        "whatif": {
            "name": name,
            "title": model.title,
            "question": model.question,
            "member": varied,
            "says": says,
            "place": 0 if index is None else index + 1,
            "rate": model.rate,
            "also": list(model.also),
            "assumed": list(model.assumed),
        },
    }
    document.data.pop("abstract", None)
    return document
