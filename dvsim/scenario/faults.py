"""From pydantic's errors to faults: our words, our places, the nearest valid spelling."""

from __future__ import annotations

import re
from types import NoneType
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from dvsim.errors import Fault
from dvsim.scenario.document import Document, KeyPath
from dvsim.scenario.find import nearest
from dvsim.scenario.quantity import UnitError, show

_MESSAGES = {
    "string_type": "must be text, not {value}",
    "int_type": "must be a whole number, not {value}",
    "int_from_float": "must be a whole number, not {value}",
    "float_type": "must be a number, not {value}",
    "bool_type": "must be true or false, not {value}",
    "list_type": "must be a list, not {value}",
    "dict_type": "must be a table, not {value}",
    "model_type": "must be a table, not {value}",
    "greater_than_equal": "must be at least {ge}, is {value}",
    "greater_than": "must be more than {gt}, is {value}",
    "less_than_equal": "must be at most {le}, is {value}",
    "literal_error": "must be {expected}, not {value}",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "finite_number": "must be finite, not {value}",
}


def validate(
    model: type[BaseModel], document: Document, *, partial: bool = False
) -> tuple[Any, list[Fault]]:
    """Check a document against a model.

    Parameters
    ----------
    model
        Of a whole file.
    document
        What was read.
    partial
        True if missing keys are no faults: others will add them.

    Returns
    -------
    tuple
        The validated model, or None, and everything that is wrong.
    """
    try:
        return model.model_validate(document.data), []
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
    faults, meant = [], set()
    for item in errors:
        path: KeyPath = item["loc"]
        kind = item["type"]
        if kind == "extra_forbidden":
            near = nearest(str(path[-1]), _known_keys(model, path))
            meant.add((*path[:-1], near))
            faults.append(document.fault(path, "unknown key", near))
        elif kind != "missing":
            path = _written(document, path)
            faults.append(document.fault(path, *_explain(kind, document.at(path), item)))
    if not partial:
        absent = [item["loc"] for item in errors if item["type"] == "missing"]
        # a key that is only misspelt is told once
        faults += [document.fault(path, "missing") for path in absent if path not in meant]
    return None, faults


def _explain(kind: str, value: object, item: Any) -> tuple[str, str | None]:  # noqa: ANN401
    """Return message and hint of one error."""
    context = item.get("ctx", {})
    if kind == "value_error":
        cause = context["error"]
        return (cause.message, cause.hint) if isinstance(cause, UnitError) else (str(cause), None)
    message = _MESSAGES.get(kind, "{value} is not valid here").format(value=show(value), **context)
    choices = re.findall("'(.*?)'", str(context.get("expected", "")))
    return message, nearest(value, choices) if isinstance(value, str) else None


def _written(document: Document, path: KeyPath) -> KeyPath:
    """Return the path as the user wrote it: ``sram = "1 MiB"`` has no key ``value``."""
    bare = path[-1] == "value" and path not in document.origins and path[:-1] in document.origins
    return path[:-1] if bare else path


def _known_keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Return the keys that the table around a path may have."""
    at: Any = model
    for key in path[:-1]:
        if isinstance(key, int):  # of a list of tables
            at = get_args(at)[0]
            continue
        at = get_args(at)[1] if get_origin(at) is dict else at.model_fields[key].annotation
        if NoneType in get_args(at):
            at = next(option for option in get_args(at) if option is not NoneType)
    return [field.alias or name for name, field in at.model_fields.items()]


def in_order(faults: list[Fault]) -> list[Fault]:
    """Sort faults by line, file by file as they first appear."""
    files = list(dict.fromkeys(fault.file for fault in faults))
    return sorted(faults, key=lambda fault: (files.index(fault.file), fault.line or 0))
