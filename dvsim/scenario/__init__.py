"""What scenarios of all kinds have in common: files, cards, units, faults.

The way of a file through this room, and `dvsim.contract.load` is who leads it::

    find          a name becomes a path           (standard library only, so listing is quick)
    document      is read; every key remembers its file and line (`locate`)
    extend        the files it builds on lie under it
    override      key=value lies over it
    card          the parameters of the components, see `card_kinds`
    input_errors  pydantic checks it by the `Spec` of its kind (`spec`); what is wrong, in our words
    fields        what the values may be, with their units (`units`) and `bounds`
    render        and back: one self-contained TOML text
"""

from dvsim.scenario.types import CONFIDENCES, Card, Parameter
from dvsim.scenario.units import DIMENSIONS, Dimension, Law

__all__ = ["CONFIDENCES", "DIMENSIONS", "Card", "Dimension", "Law", "Parameter"]
