"""Writes small DUMPI files: the calls of a rank with their arguments and times."""

import struct

from dvsim.kinds.workload.readers.dumpi_file import END, LAYOUTS, MAGIC, NAMES, ROOT, SIZES

WORLD, NULL, INT, DOUBLE = 2, 1, 9, 14
SECOND = 1_700_000_000
MASK = 0x4F  # statuses, both times, a thread
CODES = {"i": "i", "l": "q", "h": "H", "b": "B", "I": "i", "H": "H", "B": "B"}


def argument(letter, value):
    if letter in "ilhb":
        return struct.pack(f">{CODES[letter]}", value)
    if letter in "IHB":
        return struct.pack(f">I{len(value)}{CODES[letter]}", len(value), *value)
    if letter == "s":
        return struct.pack(">I", len(value)) + value
    if letter == "S":  # (bytes, source, tag) of each
        states = b"".join(
            struct.pack(">iiBBi", size, source, 0, 0, tag) for size, source, tag in value
        )
        return struct.pack(">I", len(value)) + states
    inner = "s" if letter == "A" else "I"
    return struct.pack(">I", len(value)) + b"".join(argument(inner, one) for one in value)


class Dumpi:
    """The file of one rank. Times are in nanoseconds from a full second."""

    def __init__(self, version=(1, 0, 0), sizes=SIZES, mask=MASK):
        self.version, self.sizes, self.mask = version, sizes, mask
        self.body = b""

    def call(self, name, begin, end, *arguments):
        self.body += struct.pack(">HBH", NAMES.index(name), self.mask, 0)
        for _ in range(bool(self.mask & 4) + bool(self.mask & 8)):
            for time in (begin, end):
                self.body += struct.pack(">HI", time // 10**9, time % 10**9)
        left, reads = list(arguments), True
        for letter in LAYOUTS[name]:
            if letter in "?!":
                own, root = ROOT[name]
                reads = letter == "!" or arguments[own] == arguments[root]
            elif reads:
                self.body += argument(letter, left.pop(0))
        assert not left, name
        return self

    def data(self):
        """Return the bytes of the file."""
        body = MAGIC + struct.pack(">II", 0, SECOND) + self.body + struct.pack(">H", END)
        header = bytes(self.version) + bytes(8 + 2 + 2 + 4 + 4)
        sizes = struct.pack(f">I{len(self.sizes)}i", len(self.sizes), *self.sizes)
        places = (len(body) + len(header), 0, 0, len(body), len(MAGIC), 0, 0)
        return body + header + sizes + MAGIC + struct.pack(">7Q", *places)


def exchange(ranks=2):
    """Return the files of a program that sends around, sums up and gathers, by their names."""
    found = {"run.meta": f"hostname=here\nnumprocs={ranks}\nfileprefix=run\n".encode()}
    for rank in range(ranks):
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        one = Dumpi()
        one.call("Init", 0, 1000, [b"./program"])
        one.call("Isend", 2000, 2100, 100, DOUBLE, right, 7, WORLD, 5)
        one.call("Irecv", 2100, 2200, 100, DOUBLE, -1, -1, WORLD, 6)
        one.call("Waitall", 5000, 9000, 2, [5, 6], [(0, -1, -1), (800, left, 7)])
        one.call("Allreduce", 9500, 9900, 4, INT, 3, WORLD)
        own = (25, INT) if rank == 0 else ()
        one.call("Gather", 9900, 9950, rank, 25, INT, 0, WORLD, *own)
        one.call("Finalize", 9960, 10_000)
        found[f"run-{rank:04d}.bin"] = one.data()
    return found
