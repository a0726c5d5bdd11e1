"""GOAL schedules as text, the input of LogGOPSim: read and written.

::

    num_ranks 2

    rank 0 {
    l1: calc 100 cpu 0
    l2: send 8b to 1 tag 0 cpu 0 nic 0
    l2 requires l1
    }

    rank 1 {
    l1: recv 8b from 0 tag 0
    }

Computing is in nanoseconds. ``a requires b``: a starts when b has ended; ``a irequires b``: when b
has started. ``-1`` is any source, or any tag, as are 32 ones, 4294967295. Comments are ``// ...``,
``# ...`` and ``/* ... */``.
A first line ``// agent 1: ...`` or ``// eager: ...`` is a comment of dvsim's own, which it reads:
see `Graph.agent` and `Graph.eager`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import MOST_CPU, MOST_TAG
from dvsim.kinds.workload.graph import ANY, CALC, SEND, Builder, Graph
from dvsim.kinds.workload.readers.text import data_of

PS_PER_NS = 1000
MOST_DIGITS = 15  # of a size, or of nanoseconds: 11 days
MOST_SHOWN = 40  # characters of a line that is wrong
TAGS = 1 << 64
ANY_32 = (1 << 32) - 1

_S = r"[ \t\r]*"
_OPTIONS = rf"(?P<options>(?:{_S}\b(?:tag|cpu|nic){_S}-?\d+)*)"
_STATEMENT = re.compile(
    rf"""(?:
    (?:(?P<label>[A-Za-z]\w*){_S}:{_S})?
      (?:(?P<op>send|recv)\b{_S}(?P<size>-?\d+){_S}b?{_S}(?:to|from)\b{_S}(?P<peer>-?\d+)
        |calc\b{_S}(?P<calc>-?\d+)){_OPTIONS}{_S}(?=$|\}})
    |(?P<one>[A-Za-z]\w*){_S}\b(?P<edge>i?requires)\b{_S}(?P<other>[A-Za-z]\w*){_S}(?=$|\}})
    |rank\b{_S}(?P<rank>\d+)
    |(?P<open>\{{)
    |(?P<close>\}})
    |num_ranks\b{_S}(?P<ranks>\d+)
    ){_S}""",
    re.VERBOSE,
)
_OPTION = re.compile(r"(tag|cpu|nic)[ \t\r]*(-?\d+)")
_LONG_TAG = re.compile(r"\btag[ \t\r]*(\d{10,20})(?!\d)")
_COMMENT = re.compile(r"(?://|#)[^\n]*|/\*.*?\*/", re.DOTALL)
_AGENT = re.compile(r"// (?:eager|agent (\d{1,3})):")
_HEAD = re.compile(rf"\s*num_ranks\b{_S}\d+")


def is_goal(head: str) -> bool:
    """Return whether a text is a GOAL schedule, given its beginning."""
    return _HEAD.match(_COMMENT.sub("", head)) is not None


def read_goal(path: Path | str) -> Graph:
    """Return the operations of a GOAL schedule."""
    text = data_of(Path(path)).decode("utf-8-sig", "replace")
    return _Reading(str(path)).read(text)


class _Reading:
    def __init__(self, file: str) -> None:
        self.file = file
        self.line = 0
        self.builder: Builder | None = None
        self.agent = 0
        self.numbers: dict[int, int] = {}  # of tags that have more than 31 bits
        self.rank = -1
        self.opened = False
        self.seen: dict[int, int] = {}
        self.labels: dict[str, int] = {}
        self.edges: list[tuple[str, str, bool, int]] = []
        self.operations = 0  # of this rank
        self.blocks = 0  # beginnings of ranks in the whole text

    def wrong(self, message: str, line: int | None = None) -> ScenarioError:
        key = f"rank {self.rank}, operation {self.operations}" if self.opened else ""
        return ScenarioError.at(self.file, message, key, line=line or self.line)

    def read(self, text: str) -> Graph:
        lines, agent = _lines(text), _AGENT.match(text)
        tags = {int(tag) for tag in _LONG_TAG.findall(text)}
        large = sorted(tag for tag in tags if tag > MOST_TAG)
        free = (tag for tag in range(MOST_TAG, 0, -1) if tag not in tags)
        self.numbers = dict(zip(large, free, strict=False))
        self.agent, eager = int((agent and agent[1]) or 0), agent is not None and not agent[1]
        self.blocks = sum(line.count("rank") for line in lines)
        for self.line, line in enumerate(lines, 1):
            column = len(line) - len(line.lstrip())
            while column < len(line):
                match = _STATEMENT.match(line, column)
                if match is None:
                    raise self.wrong(
                        f"is no statement of GOAL: {line[column:].strip()[:MOST_SHOWN]}"
                    )
                self.take(match)
                column = match.end()
        if self.builder is None:
            raise self.wrong("has no num_ranks", 1)
        if self.rank >= 0:
            lacks = "closing" if self.opened else "opening"
            raise self.wrong(f"rank {self.rank} has no {lacks} bracket: is the file truncated?")
        missing = [rank for rank in range(self.builder.ranks) if rank not in self.seen]
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise self.wrong(f"rank {missing[0]} is missing{more}, of {self.builder.ranks}")
        self.builder.eager = eager
        self.builder.tags = {number: tag for tag, number in self.numbers.items()}
        return self.builder.build()

    def take(self, match: re.Match[str]) -> None:
        kind = match.lastgroup
        self.check_numbers(match)
        if match["ranks"] is not None:
            if self.builder is not None:
                raise self.wrong("num_ranks is there twice")
            ranks = int(match["ranks"])
            if ranks > self.blocks:  # before as many are counted
                raise self.wrong(f"num_ranks is {ranks}, but there are fewer ranks in the file")
            self.builder = Builder(ranks, self.file, (self.file,))
            self.builder.agent = min(self.agent, MOST_CPU)
        elif self.builder is None:
            raise self.wrong("num_ranks must come first")
        elif match["rank"] is not None:
            self.begin(int(match["rank"]))
        elif self.rank < 0:
            raise self.wrong("is outside of a rank")
        elif (kind == "open") == self.opened:
            raise self.wrong(
                f"rank {self.rank} {'is open already' if self.opened else 'has no opening bracket'}"
            )
        elif kind == "open":
            self.opened = True
        elif kind == "close":
            self.close()
        elif match["edge"] is not None:
            self.edges.append((match["one"], match["other"], match["edge"][0] == "i", self.line))
        else:
            self.operation(match, self.builder)

    def check_numbers(self, match: re.Match[str]) -> None:
        numbers = [match[name] or "" for name in ("rank", "ranks", "calc", "size", "peer")]
        options = dict(_OPTION.findall(match["options"] or ""))
        tag = options.pop("tag", "0")
        largest = max((*numbers, *options.values()), key=len)
        if len(tag) > len(str(TAGS)) or int(tag) >= TAGS:
            largest = tag
        if len(largest) > MOST_DIGITS:
            raise self.wrong(f"has a number that is too large: {largest[:MOST_SHOWN]}")

    def begin(self, rank: int) -> None:
        assert self.builder is not None  # num_ranks came first
        if self.rank >= 0:
            raise self.wrong(f"rank {self.rank} has no closing bracket")
        if rank in self.seen:
            raise self.wrong(f"rank {rank} is there twice, first in line {self.seen[rank]}")
        if rank >= self.builder.ranks:
            raise self.wrong(f"rank must be from 0 to {self.builder.ranks - 1}, is {rank}")
        self.rank = rank
        self.seen[rank] = self.line

    def close(self) -> None:
        assert self.builder is not None  # a rank was open
        for operation, other, started, line in self.edges:
            for label in (operation, other):
                if label not in self.labels:
                    raise self.wrong(f"rank {self.rank} has no operation '{label}'", line)
            self.builder.require(self.labels[operation], self.labels[other], started=started)
        self.edges, self.labels, self.rank, self.opened = [], {}, -1, False
        self.operations = 0

    def operation(self, match: re.Match[str], builder: Builder) -> None:
        options = {name: int(value) for name, value in _OPTION.findall(match["options"])}
        builder.line = self.line
        if match["calc"] is not None:
            number = builder.calc(
                self.rank, int(match["calc"]) * PS_PER_NS, cpu=options.get("cpu", 0)
            )
        else:
            add = builder.send if match["op"] == "send" else builder.recv
            tag, cpu, nic = (options.get(name, 0) for name in ("tag", "cpu", "nic"))
            peer, size = int(match["peer"]), int(match["size"])
            if match["op"] == "recv":
                peer, tag = (ANY if number == ANY_32 else number for number in (peer, tag))
            tag = self.numbers.get(tag, tag)
            number = add(self.rank, peer, size, tag, cpu=cpu, nic=nic)
        label = match["label"]
        if label is not None:
            if label in self.labels:
                raise self.wrong(f"rank {self.rank} has two operations '{label}'")
            self.labels[label] = number
        self.operations += 1


def _lines(text: str) -> list[str]:
    if "/" in text or "#" in text:
        text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    return text.split("\n")


def write_goal(graph: Graph, file: IO[str]) -> None:
    """Write a graph as a GOAL schedule; computing is rounded to whole nanoseconds."""
    if graph.agent:
        file.write(f"// agent {graph.agent}: operations wait for what ends at other processors\n")
    if graph.eager:
        file.write("// eager: sends do not wait for their receives\n")
    file.write(f"num_ranks {graph.ranks}\n")
    for rank in range(graph.ranks):
        file.write(f"\nrank {rank} {{\n")
        file.writelines(f"{line}\n" for line in _rank_lines(graph, rank))
        file.write("}\n")


def _rank_lines(graph: Graph, rank: int) -> Iterator[str]:
    first, last = int(graph.first[rank]), int(graph.first[rank + 1])
    columns = (graph.kind, graph.peer, graph.tag, graph.size, graph.cpu, graph.nic)
    rows = zip(*(column[first:last].tolist() for column in columns), strict=True)
    for number, (kind, peer, tag, size, cpu, nic) in enumerate(rows, 1):
        where = f" cpu {cpu}" if cpu else ""
        if kind == CALC:
            yield f"l{number}: calc {(size + PS_PER_NS // 2) // PS_PER_NS}{where}"
            continue
        where += f" nic {nic}" if nic else ""
        way = "send {}b to" if kind == SEND else "recv {}b from"
        yield f"l{number}: {way.format(size)} {peer} tag {graph.tags.get(tag, tag)}{where}"
    begin, end = int(graph.start[first]), int(graph.start[last])
    starts = graph.start[first : last + 1].tolist()
    to, after_start = graph.to[begin:end].tolist(), graph.after_start[begin:end].tolist()
    for number in range(last - first):
        for edge in range(starts[number] - begin, starts[number + 1] - begin):
            word = "irequires" if after_start[edge] else "requires"
            yield f"l{to[edge] - first + 1} {word} l{number + 1}"
