"""What a compiled program relies on in libvic: one line for each thing; see promised.py."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

VERSION = ("MAJOR", "MINOR", "PATCH", "NUMBER")
BUILDING = {"VIC_API", "VIC_VERSION", *(f"VIC_VERSION_{part}" for part in VERSION)}
"""Macros that a compiled program does not hold."""
PACKETS = ((0, 0, 0, 63), (1, 1, 4, 0), (65535, 2, 0x3FFFFF, 62), (7, 3, 0, 5), (8, 4, 0, 6))
"""`vic_header` is in line: programs hold its bits."""


def lines_of(prefix: Path, binding: Any) -> list[str]:
    """Return the lines of a libvic: symbols, signatures, layouts, constants, packet headers."""
    library = prefix / "lib" / "libvic.so.0"
    table = subprocess.run(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", library],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    ffi, lib = binding
    found = []
    for symbol in re.findall(r" T (\w+@@?[\w.]+)$", table, flags=re.MULTILINE):
        name = symbol.partition("@")[0]
        signature = ffi.typeof(getattr(lib, name)).cname.replace("(*)", f" {name}", 1)
        found.append(f"symbol {symbol}: {signature}")
    for name in ffi.list_types()[1]:
        kind = ffi.typeof(f"struct {name}")
        if kind.fields is not None:  # others are known by their address only
            parts = [f"{at.type.cname} {field} at {at.offset}" for field, at in kind.fields]
            size = f"{ffi.sizeof(kind)} bytes, aligned to {ffi.alignof(kind)}"
            found.append(f"struct {name}: {size}: {', '.join(parts)}")
    names = [name for name in dir(lib) if isinstance(getattr(lib, name, None), int)]
    found += [f"constant {name} = {getattr(lib, name)}" for name in names]
    for header in (prefix / "include").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text("utf-8"), flags=re.DOTALL)
        macros = dict(re.findall(r"^#define (\w+)[ \t]+(\S.*?)\s*$", text, flags=re.MULTILINE))
        found += [f"macro {name} {macros[name]}" for name in sorted(macros.keys() - BUILDING)]
    for to, kind, address, counter in PACKETS:
        found.append(
            f"packet to {to}, op {kind}, word {address}, counter {counter}:"
            f" {lib.vic_header(to, kind, address, counter):#x}"
        )
    return found
