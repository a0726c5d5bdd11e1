"""A timeline as a file in the trace event format (JSON), which ui.perfetto.dev opens.

A component is a process there. What it worked on are slices of a thread, which follow each other
(``X``); what overlaps are asynchronous events (``b`` and ``e`` with an ``id`` of their own);
levels are counters (``C``), moments are instants (``i``). Times are in microseconds with three
places: whole nanoseconds, which Perfetto keeps exactly. The events of a file ascend in time. An
arrow (``s`` and ``f`` with one ``id``) leads from a slice to a slice or moment, if both are kept.
The same timeline gives the same bytes, compressed too.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dvsim.atomic import write_file
from dvsim.emulation.trace.timeline import Row, Timeline
from dvsim.errors import OutputError

LIMIT = 50_000_000  # bytes, before compression
LEAST_EVENT = 80  # bytes of an event in the file, at least
ABOUT = 1  # the process that says what the file is
FIRST = 2

Line = tuple[int, str]  # when, and an event


class Written(NamedTuple):
    """A file that was written: its size, its events, and what was thinned, in words."""

    bytes: int
    events: int
    sampled: list[str]


def most_events(limit: int) -> int:
    """Return how many events are worth keeping for a file of so many bytes."""
    return limit // LEAST_EVENT


def write_trace(
    path: Path, timeline: Timeline, about: Mapping[str, Any], limit: int = LIMIT
) -> Written:
    """Write a timeline; rows are thinned, the largest first, until it fits.

    Args:
        path: Ends in ``.gz`` if it shall be compressed.
        timeline: What to write.
        about: For the metadata of the file, as JSON types: what was traced.
        limit: Bytes of the file before it is compressed.
    """
    rows = timeline.rows
    components = dict.fromkeys(row.component for row in rows)
    pids = {name: pid for pid, name in enumerate(components, FIRST)}
    arrows: Container[int] = timeline.arrows

    def lines_of(index: int) -> list[Line]:
        return [*_lines(rows[index], pids[rows[index].component], index + FIRST, arrows)]

    blocks = [lines_of(index) for index in range(len(rows))]
    sizes = [sum(len(text) + 2 for _, text in block) for block in blocks]
    names = [*_names(rows, pids)]
    fixed = sum(len(text) + 2 for text in names) + 2000 + 80 * len(rows)
    while sum(sizes) + fixed > limit and max(sizes) > 0 and max(map(len, blocks)) > 2:
        index = sizes.index(max(sizes))
        rows[index].thin()
        blocks[index] = lines_of(index)
        sizes[index] = sum(len(text) + 2 for _, text in blocks[index])
    arrows = timeline.arrows  # those that have lost an end since are left out
    blocks = [lines_of(index) for index in range(len(rows))]
    sampled = [*timeline.sampled()]
    metadata = {**about, "sampled": sampled}
    lines = sorted((line for block in blocks for line in block), key=lambda line: line[0])
    body = ",\n".join([*names, _about(metadata), *(text for _, text in lines)])
    text = f'{{"displayTimeUnit":"ns","metadata":{_json(metadata)},\n"traceEvents":[\n{body}\n]}}\n'
    content = text.encode()
    save(path, content)
    return Written(len(content), len(lines), sampled)


def save(path: Path, content: bytes) -> None:
    """Write a file; compressed, without a name and a date in it, if its name ends in ``.gz``."""
    if path.suffix == ".gz":
        content = gzip.compress(content, compresslevel=6, mtime=0)
    try:
        write_file(path, content)
    except OSError as error:
        raise OutputError(f"cannot write the trace {path}: {error.strerror}") from error


def _names(rows: list[Row], pids: Mapping[str, int]) -> Iterator[str]:
    yield _meta("process_name", ABOUT, None, {"name": "about this timeline"})
    for component, pid in pids.items():
        yield _meta("process_name", pid, None, {"name": component})
        yield _meta("process_sort_index", pid, None, {"sort_index": pid})
    for tid, row in enumerate(rows, FIRST):
        if row.kind in ("work", "moment"):
            yield _meta("thread_name", pids[row.component], tid, {"name": row.name})


def _meta(name: str, pid: int, tid: int | None, args: Mapping[str, Any]) -> str:
    thread = {} if tid is None else {"tid": tid}
    return _json({"ph": "M", "name": name, "pid": pid, **thread, "args": args})


def _about(metadata: Mapping[str, Any]) -> str:
    facts = {
        key: value if isinstance(value, str) else _json(value) for key, value in metadata.items()
    }
    start = {"pid": ABOUT, "tid": ABOUT, "ts": 0}
    event = {"ph": "i", "s": "p", "name": "click here", **start}
    return _json({**event, "args": facts})


def _lines(row: Row, pid: int, tid: int, arrows: Container[int]) -> Iterator[Line]:
    """Yield the events of a row as lines of the file, each with its time, and its ends of arrows.

    Threads have numbers of their own in the whole file: viewers differ about equal ones.
    """
    for number, event in enumerate(row.events):
        begin, end = event.begin_ns, event.end_ns
        name, args = json.dumps(event.name, ensure_ascii=False), _json(event.facts)
        if row.kind == "level":
            yield begin, f'{{"ph":"C","name":{name},"pid":{pid},"ts":{_us(begin)},"args":{args}}}'
        elif row.kind == "work":
            yield (
                begin,
                f'{{"ph":"X","name":{name},"pid":{pid},"tid":{tid},"ts":{_us(begin)},'
                f'"dur":{_us(end - begin)},"args":{args}}}',
            )
        elif row.kind == "moment":
            yield (
                begin,
                f'{{"ph":"i","s":"t","name":{name},"pid":{pid},"tid":{tid},"ts":{_us(begin)},'
                f'"args":{args}}}',
            )
        else:
            key = f'"cat":{_json(row.name)},"id":"{tid}.{number}","name":{name},"pid":{pid}'
            yield begin, f'{{"ph":"b",{key},"ts":{_us(begin)},"args":{args}}}'
            yield end, f'{{"ph":"e",{key},"ts":{_us(end)}}}'
        where = f'"cat":"sent","name":"sent","pid":{pid},"tid":{tid}'
        for arrow, at in event.sends:
            if arrow in arrows:
                yield at, f'{{"ph":"s",{where},"id":{arrow},"ts":{_us(at)}}}'
        if event.gets in arrows:
            yield begin, f'{{"ph":"f","bp":"e",{where},"id":{event.gets},"ts":{_us(begin)}}}'


def _us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
