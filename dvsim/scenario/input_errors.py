"""What is wrong with input: pydantic's errors in our words, with places and nearest spellings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from dvsim.errors import Fault, nearest
from dvsim.scenario.document import Document, KeyPath, dotted
from dvsim.scenario.fields import adapter
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
    "dataclass_type": "must be a table, not {value}",
    "tuple_type": "must be a list, not {value}",
    "greater_than_equal": "must be at least {ge}, is {value}",
    "greater_than": "must be more than {gt}, is {value}",
    "less_than": "must be less than {lt}, is {value}",
    "less_than_equal": "must be at most {le}, is {value}",
    "literal_error": "must be {expected}, not {value}",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "finite_number": "must be finite, not {value}",
}


def validate(
    model: type,
    document: Document,
    data: Mapping[str, Any] | None = None,
    moved: Mapping[KeyPath, KeyPath] | None = None,
    missing: Callable[[KeyPath], str] = lambda _: "missing",
    *,
    partial: bool = False,
) -> tuple[Any, list[Fault]]:
    """Check a document against a class.

    Args:
        model: Of a whole file.
        document: What was read.
        data: The tables that are checked, if they are not those of the document as they stand.
        moved: The places in the document of values that have been put elsewhere in `data`.
        missing: What is said of a key that is not there.
        partial: True if missing keys are no faults: others will add them.

    Returns:
        tuple: An instance of the class, or None, and everything that is wrong.
    """
    try:
        value = adapter(model).validate_python(document.data if data is None else data)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
    else:
        return value, []
    faults, meant = [], set()
    for item in errors:
        whole, kind = _moved(item["loc"], moved or {}), item["type"]
        path = _untagged(document.data if data is None else data, whole)
        if kind in ("extra_forbidden", "unexpected_keyword_argument"):
            near = nearest(str(path[-1]), _known_keys(model, whole))
            meant.add((*path[:-1], near))
            faults.append(document.fault(path, "unknown key", near))
        elif kind == "union_tag_invalid":
            names = re.findall("'(.*?)'", item["ctx"]["expected_tags"])
            tag = item["ctx"]["tag"]
            message = f"must be one of {', '.join(names)}, not {show(tag)}"
            path = (*path, item["ctx"]["discriminator"].strip("'"))
            faults.append(document.fault(path, message, nearest(tag, names)))
        elif kind == "union_tag_not_found":
            path = (*path, item["ctx"]["discriminator"].strip("'"))
            faults.append(document.fault(path, missing(path)))
        elif kind != "missing":
            path = _written(document, path)
            faults.append(document.fault(path, *_explain(kind, document.at(path), item)))
    if not partial:
        absent = [item["loc"] for item in errors if item["type"] == "missing"]
        # a key that is only misspelt is told once
        faults += [document.fault(path, missing(path)) for path in absent if path not in meant]
    return None, faults


def _moved(path: KeyPath, moved: Mapping[KeyPath, KeyPath]) -> KeyPath:
    for position, written in moved.items():
        if path[: len(position)] == position:
            return (*written, *path[len(position) :])
    return path


def _untagged(data: Any, path: KeyPath) -> KeyPath:  # noqa: ANN401 - whatever TOML holds
    """Return the path in a file of pydantic's place, which has a name where that chooses a table.

    ``skeleton = { name = "gups", rank = 2 }``: pydantic says ``skeleton.gups.rank``.
    """
    keys: list[str | int] = []
    for key in path:
        if isinstance(data, Mapping) and key not in data and key in data.values():
            continue
        keys.append(key)
        if isinstance(data, Mapping):
            data = data.get(key)
        elif isinstance(data, list | tuple) and isinstance(key, int) and key < len(data):
            data = data[key]
    return tuple(keys)


def _explain(kind: str, value: object, item: Any) -> tuple[str, str | None]:  # noqa: ANN401
    context = item.get("ctx", {})
    if kind == "value_error":
        cause = context["error"]
        return (cause.message, cause.hint) if isinstance(cause, UnitError) else (str(cause), None)
    message = _MESSAGES.get(kind, "{value} is not valid here").format(value=show(value), **context)
    choices = re.findall("'(.*?)'", str(context.get("expected", "")))
    return message, nearest(value, choices) if isinstance(value, str) else None


def _written(document: Document, path: KeyPath) -> KeyPath:
    bare = path[-1] == "value" and path not in document.origins and path[:-1] in document.origins
    return path[:-1] if bare else path


def _known_keys(model: type, path: KeyPath) -> list[str]:
    schema = adapter(model).json_schema()
    at: dict[str, Any] = schema
    for key in (*path[:-1], None):
        while "$ref" in at or "anyOf" in at:
            at = schema["$defs"][at["$ref"].rpartition("/")[2]] if "$ref" in at else at["anyOf"][0]
        if "oneOf" in at:  # tables that differ by a name, which the path has
            at = {"$ref": at["discriminator"]["mapping"][key]}
        elif isinstance(key, int):  # of a list of tables
            at = at["items"]
        elif key is not None:
            at = at["properties"][key] if "properties" in at else at["additionalProperties"]
    return list(at["properties"])


def in_order(faults: list[Fault], document: Document) -> list[Fault]:
    """Return each fault once, as they are read: by file, by line, by key within a line."""
    files = list(dict.fromkeys(fault.file for fault in faults))
    keys = {dotted(path): index for index, path in enumerate(_paths(document.data))}

    def place(fault: Fault) -> tuple[int, int, int]:
        return files.index(fault.file), fault.line or 0, keys.get(fault.key, len(keys))

    return sorted(dict.fromkeys(faults), key=place)


def _paths(data: Any, path: KeyPath = ()) -> Iterator[KeyPath]:  # noqa: ANN401 - whatever TOML holds
    yield path
    inner = (
        data.items() if isinstance(data, dict) else enumerate(data if type(data) is list else ())
    )
    for key, value in inner:
        yield from _paths(value, (*path, key))
