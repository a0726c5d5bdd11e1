"""Writes small OTF2 archives: definitions and events of MPI ranks, as Score-P lays them down."""

from dvsim.kinds.workload.readers.scorep import KINDS

NONE = None  # of a number


def number(value, order="little"):
    """Return a compressed number: how many bytes it has, and they."""
    if value is NONE:
        return b"\xff"
    count = (value.bit_length() + 7) // 8
    return bytes([count]) + value.to_bytes(count, order)


class Otf2:
    """An archive of some ranks.

    Times are ticks; `resolution` of them are a second. Communicators are given by name with their
    ranks; the first one should be of all. `threads` are more locations, behind those of the ranks:
    the rank of each.
    """

    def __init__(
        self,
        ranks,
        *,
        resolution=10**9,
        order="little",
        communicators=(),
        windows=(),
        chunk=1 << 20,
        threads=(),
    ):
        self.order, self.resolution, self.chunk = order, resolution, chunk
        self.texts, self.regions = [""], {}
        self.communicators = [("MPI_COMM_WORLD", list(range(ranks))), *communicators]
        self.windows = windows  # communicators of them
        self.threads = threads
        self.events = [[] for _ in range(ranks + len(threads))]
        self.local = [b"" for _ in self.events]

    def text(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def n(self, *values):
        return b"".join(number(value, self.order) for value in values)

    def put(self, rank, time, kind, body, *, single=False):
        length = b"" if single else bytes([len(body)])
        self.events[rank].append((time, bytes([kind]) + length + body))

    def enter(self, rank, time, name):
        self.regions.setdefault(name, len(self.regions))
        self.put(rank, time, 12, self.n(self.regions[name]), single=True)

    def leave(self, rank, time, name):
        self.put(rank, time, 13, self.n(self.regions[name]), single=True)

    def call(self, rank, begin, end, name, *events):
        """Write a call with its events, each a method's name and its arguments behind the time."""
        self.enter(rank, begin, name)
        for what, *values in events:
            getattr(self, what)(rank, (begin + end) // 2, *values)
        self.leave(rank, end, name)

    def send(self, rank, time, peer, size, tag=0, communicator=0):
        self.put(rank, time, 14, self.n(peer, communicator, tag, size))

    def isend(self, rank, time, peer, size, request, tag=0, communicator=0):
        self.put(rank, time, 15, self.n(peer, communicator, tag, size, request))

    def isent(self, rank, time, request):
        self.put(rank, time, 16, self.n(request), single=True)

    def irecv(self, rank, time, request):
        self.put(rank, time, 17, self.n(request), single=True)

    def recv(self, rank, time, peer, size, tag=0, communicator=0):
        self.put(rank, time, 18, self.n(peer, communicator, tag, size))

    def ireceived(self, rank, time, peer, size, request, tag=0, communicator=0):
        self.put(rank, time, 19, self.n(peer, communicator, tag, size, request))

    def begin(self, rank, time):
        self.put(rank, time, 22, b"")

    def end(self, rank, time, kind, sent, received, root=NONE, communicator=0):
        op = bytes([KINDS.index(kind) if isinstance(kind, str) else kind])
        self.put(rank, time, 23, op + self.n(communicator, root, sent, received))

    def icollective(self, rank, time, request):
        self.put(rank, time, 85, self.n(request))

    def icollected(self, rank, time, kind, sent, received, request, root=NONE, communicator=0):
        op = bytes([KINDS.index(kind)])
        self.put(rank, time, 86, op + self.n(communicator, root, sent, received, request))

    def put_bytes(self, rank, time, remote, size, number, window=0):
        self.put(rank, time, 46, self.n(window, remote, size, number))

    def get_bytes(self, rank, time, remote, size, number, window=0):
        self.put(rank, time, 47, self.n(window, remote, size, number))

    def atomic(self, rank, time, remote, sent, received, number, window=0):
        self.put(rank, time, 48, self.n(window, remote) + b"\5" + self.n(sent, received, number))

    def ended(self, rank, time, kind, number, window=0):
        """Write that an operation ended: 49 and 50 at this end, 52 at the other."""
        self.put(rank, time, kind, self.n(window, number))

    def window_end(self, rank, time, kind=0, sent=0, received=0, root=NONE, window=0):
        self.put(rank, time, 37, b"")
        self.put(rank, time, 38, bytes([kind]) + self.n(3, window, root, sent, received))

    def group_sync(self, rank, time, group, window=0):
        self.put(rank, time, 39, self.n(1, window, group))

    def locked(self, rank, time, remote, window=0, *, shared=0):
        """Write that a rank has a lock on another, or with `NONE` on all."""
        self.put(rank, time, 40, self.n(window, remote, 0) + bytes([shared]))
        self.put(rank, time, 41, self.n(window, remote, 0) + bytes([shared]))

    def unlocked(self, rank, time, remote, window=0):
        self.put(rank, time, 43, self.n(window, remote, 0))

    def offsets(self, rank, *measured):
        """Write measurements of a rank's clock: times and what is to be added to them."""
        for time, offset in measured:
            value = self.n(offset % (1 << 64)) if offset else b"\0"
            body = time.to_bytes(8, self.order) + value + bytes(8)
            self.local[rank] += bytes([6, len(body)]) + body

    def mapped(self, rank, what, table):
        """Write which numbers of a rank stand for which of the archive.

        `what`: 3 regions, 4 groups, 6 communicators, 8 windows.
        """
        body = bytes([what]) + self.n(len(table)) + b"\x01"
        body += self.n(*(value for pair in table.items() for value in pair))
        self.local[rank] += bytes([5, len(body)]) + body

    def file(self, records, first=1, chunk=0):
        """Return a file of records in chunks; a chunk that is full ends with a zero."""
        out, here = b"", b""
        chunk = chunk or 1 << 22
        mark = b"\x03" + (b"B" if self.order == "little" else b"#")
        head = mark + first.to_bytes(8, self.order) + bytes(8)
        for one in records:
            if len(head) + len(here) + len(one) + 1 > chunk:
                out += (head + here + b"\0").ljust(chunk, b"\0")
                here = b""
            here += one
        return out + head + here + b"\x02\x01"

    def stamped(self, rank):
        last = None
        for time, event in self.events[rank]:
            stamp = b"" if time == last else b"\x05" + time.to_bytes(8, self.order)
            last = time
            yield stamp + event

    def definitions(self):
        ranks = len(self.events) - len(self.threads)
        for name in self.regions:
            self.text(name)
        for name, _ in self.communicators:
            self.text(name)
        yield self.record(5, self.n(self.resolution, 0, 1))
        for place, text in enumerate(self.texts):
            yield self.record(10, self.n(place) + text.encode() + b"\0")
        yield self.record(12, self.n(0, 0, 0, NONE))
        for rank in range(ranks):
            yield self.record(13, self.n(rank, 0) + b"\x01" + self.n(0, NONE))
        for place, rank in enumerate([*range(ranks), *self.threads]):
            yield self.record(14, self.n(place, 0) + b"\x01" + self.n(1, rank))
        for name, place in self.regions.items():
            text = self.text(name)
            body = self.n(place, text, 0) + b"\0" + self.n(NONE, 0, 0, text) + b"\x01\x16"
            yield self.record(15, body + self.n(0))
        yield self.group(0, list(range(ranks)), 4)
        for place, (_, members) in enumerate(self.communicators, 1):
            yield self.group(place, members, 5)
        for place, (name, _) in enumerate(self.communicators):
            yield self.record(22, self.n(place, self.text(name), place + 1, NONE, 0))
        for place, communicator in enumerate(self.windows):
            yield self.record(24, self.n(place, 0, communicator, 0))

    def group(self, place, members, kind):
        body = self.n(place, 0) + b"\0" + self.n(len(members), *members)
        return self.record(18, body + bytes([kind, 4]) + self.n(0))

    def record(self, kind, body):
        assert len(body) < 255
        return bytes([kind, len(body)]) + body

    def files(self):
        """Return the files of the archive, by their paths."""
        sizes = self.chunk.to_bytes(8, self.order) + (1 << 22).to_bytes(8, self.order)
        mark = b"B" if self.order == "little" else b"#"
        anchor = b"\x03" + mark + b"OTF2\0\x03\0\0\0\0" + sizes + b"\x01\x01"
        counts = (len(self.events), sum(1 for _ in self.definitions()))
        anchor += b"".join(one.to_bytes(8, self.order) for one in counts)
        anchor += bytes(3 + 4) + b"otf2test" + bytes(8) + b"\x02\x01\0"
        found = {"traces.otf2": anchor, "traces.def": self.file(self.definitions())}
        for rank in range(len(self.events)):
            found[f"traces/{rank}.evt"] = self.file(self.stamped(rank), chunk=self.chunk)
            if self.local[rank]:
                found[f"traces/{rank}.def"] = self.file([self.local[rank]])
        return found

    def write(self, folder):
        """Write the archive into a folder; return its anchor file."""
        for name, data in self.files().items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        return folder / "traces.otf2"


def stencil(ranks=4, steps=3, **options):
    """Return an archive of a program that exchanges with two neighbours and sums up, each step."""
    archive = Otf2(ranks, **options)
    for rank in range(ranks):
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        time = 1000
        archive.call(rank, time, time + 500, "MPI_Init")
        time += 500
        for step in range(steps):
            begin, at = 10 * step, time + 20_000
            for one in range(2):
                archive.call(rank, at, at + 100, "MPI_Irecv", ("irecv", begin + one))
                at += 100
            for one, peer in enumerate((right, left)):
                sent = ("isend", peer, 4096, begin + 2 + one, step)
                archive.call(rank, at, at + 200, "MPI_Isend", sent)
                at += 200
            archive.call(
                rank, at, at + 3000, "MPI_Waitall",
                ("ireceived", left, 4096, begin, step), ("ireceived", right, 4096, begin + 1, step),
                ("isent", begin + 2), ("isent", begin + 3),
            )  # fmt: skip
            at += 3000 + 5000
            summed = ("begin",), ("end", "allreduce", 8 * ranks, 8 * ranks)
            archive.call(rank, at, at + 4000, "MPI_Allreduce", *summed)
            time = at + 4000
        archive.call(rank, time + 10, time + 500, "MPI_Finalize")
    return archive
