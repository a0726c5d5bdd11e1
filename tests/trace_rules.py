"""The rules of the trace event format that Perfetto needs, as one check of a file."""

import gzip
import json
from collections import defaultdict

PHASES = {"M", "X", "b", "e", "C", "i", "B", "E", "s", "f"}


def load_trace(path):
    """Return a trace file as Python objects, compressed or not."""
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def check_trace(trace, *, ascending=True):
    """Hold a trace against the rules; return its events without metadata.

    Slices of a thread nest, each asynchronous event ends once, counters are numbers, whatever is
    shown has a named process, and times ascend unless the writer leaves that to the reader.
    """
    assert isinstance(trace["metadata"], dict)
    events = trace["traceEvents"]
    named, threads, shown = set(), set(), []
    for event in events:
        assert event["ph"] in PHASES, event
        assert isinstance(event["pid"], int)
        if event["ph"] != "M":
            assert isinstance(event["ts"], int | float) and event["ts"] >= 0, event
            assert event["name"]
            shown.append(event)
        elif event["name"] == "process_name":
            assert event["pid"] not in named
            named.add(event["pid"])
        elif event["name"] == "thread_name":
            threads.add((event["pid"], event["tid"]))
    assert {event["pid"] for event in shown} <= named
    if ascending:
        assert [event["ts"] for event in shown] == sorted(event["ts"] for event in shown)
        tids = [tid for _, tid in threads]
        assert len(set(tids)) == len(tids)
    _slices(shown)
    _spans(shown)
    _arrows(shown)
    for event in shown:
        if event["ph"] == "C":
            assert event["args"], event
            assert all(type(value) in (int, float) for value in event["args"].values()), event
    return shown


def _arrows(events):
    """Arrows begin once and end once, not before, and bind to the slice around their end."""
    begins, ends = ([e for e in events if e["ph"] == phase] for phase in "sf")
    at = {event["id"]: event for event in begins}
    assert len(at) == len(begins) == len(ends) == len({event["id"] for event in ends})
    for event in ends:
        begin = at[event["id"]]
        assert event["bp"] == "e"
        assert (event["cat"], event["name"]) == (begin["cat"], begin["name"])
        assert event["ts"] >= begin["ts"]


def _slices(events):
    """Slices of one thread lie beside or within each other, in whole nanoseconds."""
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            assert event["dur"] >= 0
            tracks[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000)))
        elif event["ph"] in "BE":
            tracks[event["pid"], event["tid"]].append((round(event["ts"] * 1000), event["ph"]))
    for track, slices in tracks.items():
        stack = []
        for begin, end in sorted(slices, key=lambda one: (one[0], -one[1])):
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or end <= stack[-1], f"{track}: slices overlap at {begin} ns"
            stack.append(end)


def _spans(events):
    """Every b has one e with its id, later or at once; no id is used twice."""
    begun, ended = {}, {}
    for event in events:
        if event["ph"] in "be":
            key = (event["pid"], event["cat"], event["id"])
            where = begun if event["ph"] == "b" else ended
            assert key not in where, event
            where[key] = event["ts"]
            assert event["name"]
    assert begun.keys() == ended.keys()
    assert all(begun[key] <= ended[key] for key in begun)
