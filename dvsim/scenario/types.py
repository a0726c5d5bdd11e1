"""Cards as the rest of dvsim sees them: the numbers of a component, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.units import Dimension, Law, format_value

WORD_BYTES = 8
PS_PER_S = 10**12

CONFIDENCES = ("published", "calibrated", "measured-here", "unverified", "assumed")
"""What a card may say of a value, from the firmest to the weakest."""


@dataclass(frozen=True)
class Parameter:
    """One number of a card, with what is known about it."""

    name: str  # such as ``sram``
    # Bytes, picoseconds, bytes/s, a plain number, a `Law` or a word, as `dimension` says.
    value: int | float | Law | str
    dimension: Dimension  # one of `dvsim.scenario.units.DIMENSIONS`
    text: str = field(compare=False)  # the value as it was written
    confidence: str  # one of `CONFIDENCES`
    source: str  # where the number comes from
    fitted: str | None  # what the value was fitted to; given exactly when it is calibrated
    origin: str = field(compare=False)  # ``data-vortex-8.toml:7`` or ``overrides``


@dataclass(frozen=True)
class Card:
    """The parameters of one component; ``card["sram"]`` is the value itself.

    Args:
        name, title, notes: For people.
        kind: One of `dvsim.scenario.card_kinds.KINDS`.
        parameters: By name, in the order of the kind.
    """

    name: str
    kind: str
    title: str
    notes: str
    parameters: Mapping[str, Parameter]

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - int, float or Law by dimension
        """Return the value of a parameter in base units."""
        return self.parameters[name].value

    def get(self, name: str) -> Any:  # noqa: ANN401
        """Return the value of an optional parameter in base units, None where the card has none."""
        parameter = self.parameters.get(name)
        return None if parameter is None else parameter.value

    def having(self, values: Mapping[str, Any], **known: str | None) -> Card:
        """Return the card with other values.

        Args:
            values: In base units, by name; of optional parameters, too, that the card does not
                have.
            known: What is known of all of them, fields of `Parameter`; by default what was.
        """
        parameters = dict(self.parameters)
        for name, value in values.items():
            dimension = KINDS[self.kind][name].dimension
            new = Parameter(name, value, dimension, "", "assumed", "", None, "")
            old = parameters.get(name, new)
            text = format_value(value, dimension) if known else old.text
            parameters[name] = replace(old, value=value, text=text, **known)  # type: ignore[arg-type]
        return replace(self, parameters=parameters)


def slot_of(card: Card, planes: int | None = None) -> int:
    """Return the slot of a vortex card in picoseconds, at least 1.

    A port puts one word into each plane in a slot, so that all planes together carry the port's
    rate: slot = planes x 8 B / port_rate, with the card's planes or the given number of them.
    """
    return max(
        1, round((planes or int(card["planes"])) * WORD_BYTES * PS_PER_S / float(card["port_rate"]))
    )


UNSETTLED = GREW, BEYOND, GROWS = "queues grew", "beyond saturation", "what waits grows"
"""Words in the notes of a run that never settles, however long it is."""
