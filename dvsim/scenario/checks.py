"""What must hold between the sections of a scenario.

Each check reads the raw tables and stays silent about values of the wrong type: those are faults
of the schema, and one fault must not hide the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dvsim.errors import Fault
from dvsim.scenario import find
from dvsim.scenario.document import Document
from dvsim.scenario.kinds import ROLES


def between_sections(document: Document, *, partial: bool = False) -> list[Fault]:
    """Return everything that is wrong between the sections.

    Parameters
    ----------
    document
        The whole scenario.
    partial
        True if other files may still add what is missing.
    """
    faults = [*_roles(document, partial), *_columns(document), *_reference(document, partial)]
    kind = document.at(("probe", "kind"))
    if kind in ("interval", "batch") and document.at(("probe", kind)) is None and not partial:
        faults.append(document.fault(("probe", kind), f"missing; a probe of kind '{kind}' has one"))
    return faults


def _roles(document: Document, partial: bool) -> Iterator[Fault]:
    """Compare the cards with what the transport uses."""
    transport = document.at(("system", "transport"))
    if not isinstance(transport, str) or transport not in ROLES:
        return
    for role in ("bridge", "publisher"):
        given = document.at(("system", role)) is not None
        if given and role not in ROLES[transport]:
            yield document.fault(("system", role), f"not used by transport '{transport}'")
        if not given and role in ROLES[transport] and not partial:
            message = f"missing; transport '{transport}' needs one"
            yield document.fault(("system", role), message)


def _columns(document: Document) -> Iterator[Fault]:
    """Compare the columns with the receivers and iterations that there are."""
    # a number that is itself a fault says nothing about the columns
    receivers = _count(document.at(("system", "receivers"))) or None
    iterations = _count(document.at(("workload", "iterations"))) or None
    transport = document.at(("system", "transport"))
    for label, column in _table(document.at(("probe", "columns"))).items():
        path = ("probe", "columns", label)
        receiver = _count(_table(column).get("receiver"))
        if receiver and transport == "tcp":
            message = f"is {receiver}; over tcp only the whole system is sampled, receiver 0"
            yield document.fault((*path, "receiver"), message)
        elif receiver is not None and receivers is not None and receiver > receivers:
            message = f"is {receiver}, but there are {receivers} receivers"
            yield document.fault((*path, "receiver"), message)
        listed = _table(column).get("iterations")
        for iteration in listed if isinstance(listed, list) else []:
            known = _count(iteration)
            if known is not None and iterations is not None and known > iterations:
                message = f"has {known}, but there are {iterations} iterations"
                yield document.fault((*path, "iterations"), message)


def _reference(document: Document, partial: bool) -> Iterator[Fault]:
    """Look for what a comparison needs: data, tolerances and columns."""
    if document.at(("reference",)) is None:
        return
    if document.at(("tolerance",)) is None and not partial:
        message = "missing; a comparison declares its tolerances before"
        yield document.fault(("tolerance",), message)
    file = document.at(("reference", "file"))
    if isinstance(file, str) and file and not (find.reference_root() / file).is_file():
        near = find.nearest(file, (path.name for path in find.reference_root().glob("*.csv")))
        yield document.fault(("reference", "file"), f"no published data '{file}'", near)
    labels = list(_table(document.at(("probe", "columns"))))
    fitted = document.at(("reference", "fitted"))
    for label in fitted if isinstance(fitted, list) else []:
        if isinstance(label, str) and label not in labels and not partial:
            message = f"no column '{label}' in [probe.columns]"
            yield document.fault(("reference", "fitted"), message, find.nearest(label, labels))


def _table(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any TOML value
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:  # noqa: ANN401
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return int(value) if good else None
