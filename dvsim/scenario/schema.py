"""The shape of campaign and card files, checked by pydantic at the boundary.

The models also give the JSON Schema that editors use to complete and check such files. That of a
scenario is the class of its kind, see `dvsim.scenario.spec`.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
)

from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.fields import Text, bounded
from dvsim.scenario.types import CONFIDENCES


class Table(BaseModel):
    """A TOML table: no unknown keys, and 1 is not "1"."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CampaignFile(Table):
    """Several scenarios under one name."""

    title: Text
    question: Text
    campaign: list[Text] = Field(min_length=1, description="names, relative to this folder")


class ParameterTable(Table):
    """One parameter of a card; `value` is set by the kind of the card."""

    value: Any
    confidence: Literal["published", "calibrated", "measured-here", "unverified", "assumed"]
    source: Text
    fitted: Text | None = Field(None, validate_default=True)

    @field_validator("fitted")
    @classmethod
    def _calibrated(cls, fitted: str | None, info: ValidationInfo) -> str | None:
        confidence = info.data.get("confidence")
        if confidence == "calibrated" and fitted is None:
            raise ValueError("missing; a calibrated value names what it was fitted to")
        if confidence in CONFIDENCES and confidence != "calibrated" and fitted is not None:
            raise ValueError(f"only a calibrated value is fitted, this one is {confidence}")
        return fitted


@cache
def card_model(kind: str) -> type[Table]:
    """Return the model of a card of one kind: all parameters that it must have, nothing else."""
    fields: dict[str, Any] = {"name": Text, "kind": Literal[kind], "title": Text}
    fields["notes"] = (str, "")
    for name, limits in KINDS[kind].items():
        value = Annotated[Any, BeforeValidator(partial(bounded, limits=limits))]
        table = create_model(f"{kind}_{name}", __base__=ParameterTable, value=value)
        fields[name] = (table | None, None) if limits.optional else table
    return cast("type[Table]", create_model(f"{kind}_card", __base__=Table, **fields))
