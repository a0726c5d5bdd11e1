"""Scenarios: from TOML files to checked, frozen objects.

The way of a file through this room::

    find      a name becomes a path               (standard library only, so listing is quick)
    document  is read; every key remembers its file and line (`locate`)
    extend    the files it builds on lie under it
    override  --set key=value lies over it
    schema    pydantic checks shape and units (`units`), in our words (`faults`)
    card      the parameters of the components, by `kinds`
    checks    what holds between sections, and with the tables of `published` data
    bounds    how much may be asked for, number by number and together
    build     frozen objects (`types`), or every fault at once
    load      all of this in one call, for a scenario or a campaign
    render    and back: one self-contained TOML text

A scenario of a switch or network alone (``kind = "switch"``) goes the same way through
`switch_schema`, `switch_build`, `switch_types` and `switch_render`; what its points may be is asked
of the switch and the network themselves, in `switch_points`. One of messaging over hosts
(``kind = "messaging"``) goes through `messaging_schema`, `messaging_build`, `messaging_types` and
`messaging_render`. Both have points: `varied`.

Only the plain types are re-exported here; import `load`, `find` and the rest from their modules.
"""

from dvsim.scenario.types import (
    CONFIDENCES,
    Card,
    Column,
    Parameter,
    Probe,
    Reference,
    Scenario,
    System,
    Tolerance,
    Workload,
)
from dvsim.scenario.units import DIMENSIONS, Dimension, Law

__all__ = [
    "CONFIDENCES",
    "DIMENSIONS",
    "Card",
    "Column",
    "Dimension",
    "Law",
    "Parameter",
    "Probe",
    "Reference",
    "Scenario",
    "System",
    "Tolerance",
    "Workload",
]
