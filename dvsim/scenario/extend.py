"""``extends``: a file and everything it builds on, merged into one document."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dvsim.errors import ScenarioError, nearest
from dvsim.scenario import find
from dvsim.scenario.document import Document, read

Extended = Callable[[Document, Path, str], Path]
"""Returns the file that a name after ``extends`` stands for; raises if there is none."""


def read_chain(path: Path) -> Document:
    """Read a scenario and everything that it extends, merged; the file itself wins."""
    layers = read_layers(path)
    merged = layers[-1]
    for layer in reversed(layers[:-1]):
        for key in ("abstract", "name"):  # what a file says of itself is not handed on
            merged.data.pop(key, None)
        merged.merge(layer)
    merged.origins[()] = layers[0].origins[()]  # what is missing is missing in the file itself
    merged.files = [file for layer in layers for file in layer.files]
    return merged


def read_layers(path: Path) -> list[Document]:
    """Return a scenario and all that it extends, the file itself first; see `layers_of`."""
    return layers_of(path, _scenario, "a file or a scenario")


def layers_of(path: Path, extended: Extended, what: str) -> list[Document]:
    """Return a file and everything that it extends, the file itself first."""
    layers: list[Document] = []
    seen: set[Path] = set()
    following: Path | None = path
    while following is not None:
        layer = read(following)
        seen.add(following.resolve())
        layers.append(layer)
        name = layer.data.pop("extends", None)
        if name is None:
            return layers
        if not isinstance(name, str):
            raise ScenarioError([layer.fault(("extends",), f"must be text, {what}")])
        following = extended(layer, following, name)
        if following.resolve() in seen:
            raise ScenarioError([layer.fault(("extends",), f"'{name}' leads in a circle")])
    return layers


def read_card_layers(path: Path) -> list[Document]:
    """Return a card and every card that it extends, the card itself first; see `layers_of`."""
    return layers_of(path, _card, "a file or a card")


def _card(document: Document, path: Path, name: str) -> Path:
    if name.endswith(".toml"):
        return _file(document, path, name)
    beside, packaged = path.parent / f"{name}.toml", find.find_card(name)
    others = [other for other in (beside, packaged) if other is not None and find.is_file(other)]
    if not others:
        beside_it = [file.stem for file in path.parent.glob("*.toml")]
        near = nearest(name, [*find.card_names(), *beside_it])
        raise ScenarioError([document.fault(("extends",), f"no such card '{name}'", near)])
    return next((other for other in others if other.resolve() != path.resolve()), others[0])


def _scenario(document: Document, path: Path, name: str) -> Path:
    if name.endswith(".toml"):
        return _file(document, path, name)
    try:
        return find.resolve_name(name)
    except ScenarioError as error:
        text, near = f"no such scenario or file '{name}'", error.faults[0].hint
        if find.find_card(name) is not None:
            text = f"'{name}' is a card, and so is this, which a scenario takes: "
            text, near = f"{text}dvsim run SCENARIO --set system.NAME=FILE", None
        raise ScenarioError([document.fault(("extends",), text, near)]) from None


def _file(document: Document, path: Path, name: str) -> Path:
    other = Path(os.path.normpath(path.parent / name))
    if not find.is_file(other):
        near = find.nearest_file(other)
        raise ScenarioError([document.fault(("extends",), f"no such file '{name}'", near)])
    return other
