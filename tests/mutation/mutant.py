"""One change of one place in one file, and what became of it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True)
class Mutant:
    """A file with `old` at `start` replaced by `new`."""

    path: str
    start: int
    old: str
    new: str
    kind: str

    def applied_to(self, text: str) -> str:
        """Return the changed file."""
        end = self.start + len(self.old)
        assert text[self.start : end] == self.old
        return text[: self.start] + self.new + text[end:]

    def key(self, text: str) -> str:
        """Return a name that another text of the file does not share."""
        parts = f"{self.path}\0{text}\0{self.start}\0{self.old}\0{self.new}"
        return blake2b(parts.encode(), digest_size=8).hexdigest()

    def diff(self, text: str) -> str:
        """Return what changed, with the line's number, without context."""
        before, after = text.splitlines(), self.applied_to(text).splitlines()
        lines = difflib.unified_diff(before, after, n=0, lineterm="")
        shown = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        number = text.count("\n", 0, self.start) + 1
        return "\n".join([f"{self.path}:{number}: {self.kind}", *shown])
