"""From names to files: where scenarios and cards live, and what there is.

Standard library only: `dvsim list` and shell completion must not wait for anything heavy.
A scenario's name is its path under the scenario root without ``.toml``, such as ``h3/dv-8``;
whatever ends in ``.toml`` is a path, and means the same from every name, in every folder.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvsim.errors import ScenarioError, nearest

_PACKAGE = Path(__file__).resolve().parents[1]
LONGEST_NAME = 200  # characters: it becomes a path, of which a file system takes 255 per folder
FABRIC_CARD = "data-vortex-8"
"""The card of a network, and of emulated cards, that name none."""
MEASURED = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".txt")
"""Endings of files with measurements."""
UNREADABLE = "(cannot be read: see `dvsim check`)"


@dataclass(frozen=True)
class Entry:
    """A scenario, campaign or card that can be named."""

    name: str  # as the user types it
    path: Path  # the file
    title: str  # its title, or `UNREADABLE`
    # As its file says it; ``scenario`` of one that names none, ``campaign``, or ``what-if`` (a
    # campaign of scenarios and their variants).
    kind: str


def scenario_root() -> Path:
    """Return the folder of the packaged scenarios, or of the repository's."""
    return _root("scenarios", "scenarios")


def cards_root() -> Path:
    """Return the folder of the packaged cards, or of the repository's."""
    return _root("cards", "models/cards")


def reference_root() -> Path:
    """Return the folder of the published data."""
    return scenario_root() / "reference"


def _root(packed: str, checked_out: str) -> Path:
    data = _PACKAGE / "_data" / packed
    return data if data.is_dir() else _PACKAGE.parent / checked_out


def list_scenarios() -> list[Entry]:
    """Return every scenario and campaign that can be run, in reading order.

    Files whose name starts with ``_`` and those with ``abstract = true`` are common parts of
    others, those with ``[lab]`` speak of data: all are left out.
    """
    root = scenario_root()
    entries = []
    for path in root.rglob("*.toml"):
        head = _head(path)
        if path.name.startswith("_") or head.get("abstract") is True or "lab" in head:
            continue
        kind = str(head.get("kind", "scenario"))
        kind = "campaign" if "campaign" in head else kind
        kind = "what-if" if kind == "campaign" and "variant" in head else kind
        entries.append(Entry(scenario_name(path), path, _title(head), kind))
    return sorted(entries, key=lambda entry: natural(entry.name))


def list_cards() -> list[Entry]:
    """Return every packaged card, by kind and name."""
    entries = []
    for path in cards_root().glob("*.toml"):
        head = _head(path)
        entries.append(Entry(path.stem, path, _title(head), str(head.get("kind", ""))))
    return sorted(entries, key=lambda entry: (entry.kind, natural(entry.name)))


def resolve_name(name_or_path: str | os.PathLike[str]) -> Path:
    """Return the file of a scenario or campaign.

    Args:
        name_or_path: A name such as ``h3/dv-8``, or a path. Text that ends in ``.toml`` is a path.
    """
    text = os.fspath(name_or_path)
    if text.endswith(".toml") or not isinstance(name_or_path, str):
        return existing(Path(text))
    path = Path(os.path.normpath(scenario_root() / f"{text}.toml"))
    if path.is_relative_to(scenario_root()) and is_file(path):
        return path
    near = nearest_name(text)
    message = "no such scenario" if near else "no such scenario; `dvsim list` names them all"
    beside = Path(f"{text}.toml")
    if is_file(beside):
        message, near = "no such scenario; a file is named with its ending", str(beside)
    elif text.endswith(MEASURED):
        message = f"no such scenario; with measurements: `dvsim validate SCENARIO --against {text}`"
        near = None
    elif is_file(Path(text)):
        message = "no such scenario; the name of a scenario file ends in .toml"
    elif text and near is None and is_folder(Path(text)):
        message = f"{why_not(Path(text), 'a scenario')}; `dvsim list` names them all"
    raise ScenarioError.at(text, message, hint=near)


def existing(path: Path) -> Path:
    """Return the path of a file that is there."""
    if is_file(path):
        return path
    raise ScenarioError.at(path, why_not(path, "a scenario file"), hint=nearest_file(path))


def nearest_file(path: Path) -> str | None:
    """Return what was probably meant by a ``.toml`` that is no file: a scenario, or one beside."""
    if is_folder(path):
        return None
    names = {entry.path.stem: entry.name for entry in list_scenarios()}
    here = nearest_beside(path, lambda other: other.suffix == ".toml" and is_file(other))
    return names.get(path.stem) or here


def is_file(path: Path) -> bool:
    """Say whether a file is there and can be reached; a name from a file may be of any length."""
    return os.path.isfile(path)  # noqa: PTH113 - that of pathlib raises


def is_folder(path: Path) -> bool:
    """Say whether a folder is there and can be reached."""
    return os.path.isdir(path)  # noqa: PTH112 - as above


def out_of_reach(path: Path) -> str | None:
    """Return why nobody can say what is at a path: no permission, a loop of links, a long name."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # no name has a null byte
        return None
    except OSError as error:
        return f"cannot be reached: {error.strerror}"
    return None


def why_not(path: Path, wanted: str) -> str:
    """Return what is there, or is not, in the place of a file that is wanted."""
    if is_folder(path):
        return f"is a folder, not {wanted}"
    return out_of_reach(path) or "no such file"


def find_card(name: str, folders: Iterable[Path] = ()) -> Path | None:
    """Return the file of a card: first in a ``cards`` folder beside a scenario, then packaged."""
    if not re.fullmatch(r"[\w.-]+", name):
        return None
    tried = [folder / "cards" for folder in folders] + [cards_root()]
    return next((path for at in tried if is_file(path := at / f"{name}.toml")), None)


def card_names(folders: Iterable[Path] = (), kind: str | None = None) -> list[str]:
    """Return the names of all cards in reach, or of those of one kind."""
    tried = [folder / "cards" for folder in folders] + [cards_root()]
    paths = [path for at in tried for path in sorted(at.glob("*.toml"))]
    names = (path.stem for path in paths if kind is None or _head(path).get("kind") == kind)
    return list(dict.fromkeys(names))


def scenario_name(path: Path) -> str:
    """Return the name of a scenario file: under the root its path, elsewhere its stem."""
    full, root = path.resolve(), scenario_root().resolve()
    inside = full.is_relative_to(root)
    return full.relative_to(root).with_suffix("").as_posix() if inside else full.stem


def name_fault(name: str) -> str | None:
    """Return what is wrong with the name of a scenario, which is also that of a folder of results.

    >>> name_fault("h3/dv-8"), name_fault("../dv-8")
    (None, "must be a relative path such as 'h3/dv-8', without '.' and '..'")
    """
    if len(name) > LONGEST_NAME:
        return f"must be at most {LONGEST_NAME} characters long, is {len(name)}"
    if not name.isprintable():
        return "must consist of printable characters"
    if any(part in {"", ".", ".."} for part in name.split("/")):
        return "must be a relative path such as 'h3/dv-8', without '.' and '..'"
    return None


def nearest_name(text: str, more: Iterable[str] = ()) -> str | None:
    """Return the scenario that was probably meant, or one of `more` names.

    A part of a name will do: ``h33`` means the campaign of ``h3``, ``bridges`` a what-if of it.
    """
    names = [entry.name for entry in list_scenarios()]
    folders = {name.rpartition("/")[0]: name for name in names if name.endswith("/validation")}
    parts = folders | {name.rpartition("/")[2]: name for name in names}
    whole = None if text in parts else nearest(text, [*names, *more])
    return whole or parts.get(nearest(text, parts) or "")


def nearest_beside(path: Path, fits: Callable[[Path], bool]) -> str | None:
    """Return the path in the same folder that was probably meant, of those that fit."""
    others = path.parent.glob("*") if is_folder(path.parent) else ()
    near = nearest(path.name, (other.name for other in others if fits(other)))
    return None if near is None else str(path.parent / near)


def natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key that puts ``dv-8`` before ``dv-16``."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)]


def _head(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {"title": UNREADABLE}


def _title(head: dict[str, Any]) -> str:
    title = head.get("title", "")
    return title if isinstance(title, str) else UNREADABLE
