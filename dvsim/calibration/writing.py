"""Cards as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dvsim.errors import OutputError
from dvsim.results.atomic import write_file
from dvsim.scenario.render import card_toml
from dvsim.scenario.types import Card


def write_cards(cards: Sequence[Card], folder: Path) -> list[Path]:
    """Write each card to ``folder/NAME.toml``, whole or not at all, and return the paths.

    A card of that name that is there is replaced.

    Raises
    ------
    OutputError
        If one cannot be written.
    """
    paths = []
    for one in cards:
        path = folder / f"{one.name}.toml"
        try:
            write_file(path, card_toml(one).encode())
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
        paths.append(path)
    return paths
