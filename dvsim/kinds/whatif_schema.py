"""The shape of a file that asks an open question, see `dvsim.kinds.whatif`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from dvsim.kinds.rabbitmq.spec import Measure
from dvsim.scenario.fields import Name, Text
from dvsim.scenario.schema import Table

TABLES = ("workload", "system", "probe")
"""Sections that a question, or a variant, may put over those of a scenario."""

Factor = Annotated[FiniteFloat, Field(ge=0, le=1e6)]


def _plain_name(name: str) -> str:
    """Check the name of a variant: it becomes one part of that of a run."""
    if "/" in name or name == "baseline":
        raise ValueError("must be without '/', and not 'baseline', which is what is not varied")
    return name


class Layer(Table):
    """What is changed of a scenario; the sections are checked as part of it."""

    times: dict[str, Factor] = Field(default_factory=dict, description="keys that are multiplied")
    workload: dict[str, Any] = Field(default_factory=dict)
    system: dict[str, Any] = Field(default_factory=dict)
    probe: dict[str, Any] = Field(default_factory=dict)


class VariantTable(Layer):
    """One way in which things could be otherwise."""

    name: Annotated[Name, AfterValidator(_plain_name)] = Field(description="in names of runs")
    says: Text = Field(description="what is different, as in '… would change nothing'")

    @model_validator(mode="after")
    def _differs(self) -> VariantTable:
        if not (self.times or self.workload or self.system or self.probe):
            raise ValueError("changes nothing; the baseline is run without being asked for")
        return self


def _named_once(variants: list[VariantTable]) -> list[VariantTable]:
    """Check that a name says which variant a run is of."""
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
    also: list[Measure] = Field(default_factory=list, description="what else the answer tells")
    campaign: list[Text] = Field(min_length=1, description="names, relative to this folder")
    variant: Annotated[list[VariantTable], AfterValidator(_named_once)] = Field(min_length=1)
