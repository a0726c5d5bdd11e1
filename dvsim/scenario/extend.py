"""``extends``: a file and everything it builds on, merged into one document."""

from __future__ import annotations

import os
from pathlib import Path

from dvsim.errors import ScenarioError
from dvsim.scenario import find
from dvsim.scenario.document import Document, read


def read_chain(path: Path) -> Document:
    """Read a file and everything that it extends, merged; the file itself wins.

    Raises
    ------
    ScenarioError
        If one of them cannot be read, is not there, or leads back to an earlier one.
    """
    layers: list[Document] = []
    seen: set[Path] = set()
    following: Path | None = path
    while following is not None:
        layer = read(following)
        seen.add(following.resolve())
        layers.append(layer)
        following = _extended(layer, following, seen)
    merged = layers[-1]
    for layer in reversed(layers[:-1]):
        for key in ("abstract", "name"):  # what a file says of itself is not handed on
            merged.data.pop(key, None)
        merged.merge(layer)
    merged.origins[()] = layers[0].origins[()]  # what is missing is missing in the file itself
    merged.folders = [folder for layer in layers for folder in layer.folders]
    return merged


def _extended(document: Document, path: Path, seen: set[Path]) -> Path | None:
    """Return the file that a document extends, None if it stands alone."""
    name = document.data.pop("extends", None)
    if name is None:
        return None
    if not isinstance(name, str):
        raise ScenarioError([document.fault(("extends",), "must be text, a file or a scenario")])
    other = _packaged(document, name)
    if other is None:
        other = Path(os.path.normpath(path.parent / name))
    if not find.is_file(other):
        near = find.nearest(name, (file.name for file in path.parent.glob("*.toml")))
        raise ScenarioError([document.fault(("extends",), f"no such file '{name}'", near)])
    if other.resolve() in seen:
        raise ScenarioError([document.fault(("extends",), f"'{name}' leads in a circle")])
    return other


def _packaged(document: Document, name: str) -> Path | None:
    """Return the file of a packaged scenario, ``h3/dv-8``; None if the name is that of a file."""
    if name.endswith(".toml"):
        return None
    try:
        return find.resolve_name(name)
    except ScenarioError as error:
        text, near = f"no such scenario or file '{name}'", error.faults[0].hint
        raise ScenarioError([document.fault(("extends",), text, near)]) from None
