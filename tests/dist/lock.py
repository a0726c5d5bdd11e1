"""Writes the lock files: every package that CI and `make dist` install, pinned and hashed.

``make lock`` renews both, after a change of setup.cfg or tools.in or to take newer versions:

- ``tests/requirements.lock``, for ``make test``: what dvsim needs, and its extra ``test``
- ``tests/dist/tools.lock``, for ``make dist``: what is in ``tools.in``

One file serves every Python from 3.11 on: where they need different versions, each line says for
which it is. Hashes are those of all files of a version, and no line says where to get it from.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OLDEST = "3.11"
LOCKS = {
    "tests/requirements.lock": ["setup.cfg", "--extra", "test"],
    "tests/dist/tools.lock": ["tests/dist/tools.in"],
}
HEADER = "# Written by `make lock` from {source}; see tests/dist/lock.py.\n"
QUIET = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--quiet"]


def resolve(asked: list[str]) -> str:
    """Return the newest versions that fit together, with the hashes of their files.

    Raises
    ------
    subprocess.CalledProcessError
        If nothing fits, or the package index is out of reach; uv has said so.
    """
    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / "lock"
        command = [sys.executable, "-m", "uv", "pip", "compile", *asked, "--output-file", made]
        command += ["--universal", "--python-version", OLDEST, "--generate-hashes", *QUIET]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return made.read_text("utf-8")


def main() -> None:
    """Renew both files."""
    for name, asked in LOCKS.items():
        text = HEADER.format(source=asked[0]) + resolve(asked)
        (ROOT / name).write_text(text, "utf-8")
        print(f"{name}: {sum(line[:1].isalnum() for line in text.splitlines())} packages")


if __name__ == "__main__":
    main()
