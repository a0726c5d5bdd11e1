"""Write the results that the scenarios give now into the kept files.

    .venv/bin/python tests/golden/update.py [FAMILY …]

Says what changed, and which lines CHANGELOG.md needs: a sentence for the reader of a result, what
changed and why.
"""

from __future__ import annotations

import sys

from golden import (
    CHANGELOG,
    UNEXPLAINED,
    differences,
    digest,
    entries,
    explained,
    family,
    line,
    path_of,
    read,
    results,
    text,
)


def main() -> None:
    """Run all scenarios of the families, of all if none is named."""
    every = list(dict.fromkeys(family(entry.name) for entry in entries()))
    asked = sys.argv[1:] or every
    if unknown := [name for name in asked if name not in every]:
        sys.exit(f"update.py: no family '{unknown[0]}'; there are {', '.join(every)}")
    for name in asked:
        kept, found = read(name), {}
        for entry in entries():
            if family(entry.name) == name:
                found |= results(entry.name)
        for scenario in [*found, *(gone for gone in kept if gone not in found)]:
            if scenario not in found or scenario not in kept:
                print(f"{scenario}: {'gone' if scenario in kept else 'new'}")
                continue
            for difference in differences(kept[scenario], found[scenario]):
                print(f"{scenario}: {difference}")
        path_of(name).write_text(text(found), "utf-8")
        print(f"{name}: {len(found)} scenarios, digest {digest(name)}", flush=True)
    changelog = CHANGELOG.read_text("utf-8")
    if missing := [line(name) for name in asked if not explained(name, changelog)]:
        print("CHANGELOG.md needs, in the list of results:")
        print("\n".join(f"{start}{UNEXPLAINED}" for start in missing))


if __name__ == "__main__":
    main()
