"""The kept corpus: one text file for each target, a line for each input: its name, and its bytes.

Names of inputs that once made something fail say what; those that a run found are called by number.
"""

from __future__ import annotations

import base64
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"


def read(target: str) -> dict[str, bytes]:
    """Return the inputs of a target by name."""
    path = CORPUS / f"{target}.txt"
    lines = path.read_text("ascii").splitlines() if path.exists() else []
    return {
        name: base64.b64decode(data) for name, _, data in (line.partition(" ") for line in lines)
    }


def write(target: str, inputs: dict[str, bytes]) -> None:
    """Replace the inputs of a target."""
    lines = [f"{name} {base64.b64encode(inputs[name]).decode()}" for name in sorted(inputs)]
    CORPUS.mkdir(exist_ok=True)
    (CORPUS / f"{target}.txt").write_text("".join(f"{line}\n" for line in lines), "ascii")


def unpack(target: str, folder: Path) -> list[Path]:
    """Write the inputs of a target into a folder, a file each."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, data in read(target).items():
        paths.append(folder / name)
        paths[-1].write_bytes(data)
    return paths


def named(inputs: dict[str, bytes]) -> dict[str, bytes]:
    """Return those that a person has named."""
    return {name: data for name, data in inputs.items() if not name.isdigit()}
