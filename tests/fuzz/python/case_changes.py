"""How a good case becomes a bad one: bytes, words, lines and values are changed, a few at a time.

Hypothesis draws the changes, so what fails is cut down to the few that matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from case_files import Files
from hypothesis import strategies as st

WORD = re.compile(rb'"[^"\n]*"|\'[^\'\n]*\'|[\w.+-]+')
WORDS = [
    *(b"0", b"-1", b"1", b"2", b"1.5", b"1e300", b"-1e300", b"1e999", b"nan", b"inf", b"-0.0"),
    *(str(2**n + one).encode() for n in (15, 31, 32, 53, 63, 64) for one in (-1, 0)),
    *(b"9" * 400, b"9" * 5000, b"1e-400", b"0x10", b"1_000", b"5e-324", b"1e18", b"1e9"),
    *(b"true", b"null", b"[]", b"{}", b'""', b"''", b'"x"', b"[1, 2]", b"{a = 1}", b"[[]]"),
    *(b"1979-05-27T07:32:00Z", b"07:32:00", b'"1 ms"', b'"8 B"', b'"1 GB/s"', b'"1 us + 1 ns/B"'),
    *(b'"1e999 s"', b'"1e300 s"', b'"0 s"', b'"-1 B"', b'"nan B"', b'"1e-300 B/s"', b'"2048"'),
    *(b"../../../etc/passwd", b'"/dev/zero"', b'"."', b'".."', b'"mine"', b'"mine.toml"'),
    *(b"a" * 300, b"\xff\xfe", b"\0", b"\x1b[31m", "\u202e".encode(), "٣".encode(), "²".encode()),
    *(b"</script>", b"{{ 7 * 7 }}", b"{0.__class__}", b"%s%n", b"__class__", b"[" * 2000),
    *(b"rate", b"value", b"statistic", b"mean", b"std", b"count", b"50%", b"max", b"message_bytes"),
]
VALUES: list[Any] = [
    *(None, True, 0, -1, 1, 2, 1.5, 1e300, -1e300, 2**31, 2**63, 2**64, 10**400, "", "x", "\0"),
    *(
        [],
        {},
        [[]],
        [None],
        [1, 2],
        {"": 1},
        {"a": {}},
        "a" * 300,
        "../../x",
        "</script>",
        "\ud800",
    ),
    *("2026-11-20T12:00:00+00:00", "nan", "-5", "sim", "emu", "switch", "messaging", "sweep"),
]

Change = Callable[[bytes], bytes]


def mutated(pool: Sequence[Files]) -> st.SearchStrategy[Files]:
    """Return cases that are each one of a pool with one to four changes."""

    @st.composite
    def strategy(draw: st.DrawFn) -> Files:
        files = dict(draw(st.sampled_from(pool)))
        other = draw(st.sampled_from(pool))
        for _ in range(draw(st.integers(1, 4))):
            name = draw(st.sampled_from(sorted(files)))
            kinds = [_bytes, _words, _lines]
            if files[name][:1] == b"{":
                kinds += [_value, _value, _value]
            files[name] = draw(st.sampled_from(kinds))(draw, files[name], other.get(name, b""))
        return files

    return strategy()


def _bytes(draw: st.DrawFn, text: bytes, other: bytes) -> bytes:
    """Flip, cut, take out, double or put in some bytes."""
    at = draw(st.integers(0, len(text)))
    to = min(len(text), at + draw(st.sampled_from([1, 1, 2, 4, 8, 64, 4096])))
    what = draw(st.integers(0, 4))
    if what == 0 and at < len(text):
        return text[:at] + bytes([text[at] ^ (1 << draw(st.integers(0, 7)))]) + text[at + 1 :]
    if what == 1:
        return text[:at]
    if what == 2:
        return text[:at] + text[to:]
    if what == 3:
        return text[:to] + text[at:]
    return text[:at] + draw(st.one_of(st.binary(max_size=8), st.sampled_from(WORDS))) + text[at:]


def _words(draw: st.DrawFn, text: bytes, other: bytes) -> bytes:
    """Put another word, of the list or of another case, in the place of one."""
    words = list(WORD.finditer(text))
    if not words:
        return draw(st.sampled_from(WORDS))
    found = WORD.findall(other)
    new = draw(st.sampled_from([*WORDS, *found]) if found else st.sampled_from(WORDS))
    start, end = draw(st.sampled_from(words)).span()
    return text[:start] + new + text[end:]


def _lines(draw: st.DrawFn, text: bytes, other: bytes) -> bytes:
    """Take out, double, move or replace a line, or what stands behind its equals sign."""
    lines = text.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    what = draw(st.integers(0, 4))
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, lines[draw(st.integers(0, len(lines) - 1))])
    elif what == 2:
        lines[at] = draw(st.sampled_from(other.split(b"\n")))
    elif what == 3 and b"=" in lines[at]:
        lines[at] = lines[at].partition(b"=")[0] + b"= " + draw(st.sampled_from(WORDS))
    else:
        lines[at] = lines[at].replace(b",", b"," + draw(st.sampled_from(WORDS)) + b",", 1)
    return b"\n".join(lines)


def _value(draw: st.DrawFn, text: bytes, other: bytes) -> bytes:
    """Replace or remove a value of a JSON document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    places = list(_places(document))
    if not places:
        return text
    holder, key = draw(st.sampled_from(places))
    if draw(st.integers(0, 4)) == 0:
        del holder[key]
    else:
        holder[key] = draw(st.sampled_from(VALUES))
    return json.dumps(document).encode()


def _places(at: Any) -> Any:
    """Yield each table or list with each key or position in it."""
    keys = list(at) if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else ()
    for key in keys:
        yield at, key
        yield from _places(at[key])
