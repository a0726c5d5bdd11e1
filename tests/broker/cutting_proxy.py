"""A TCP proxy before a broker that breaks connections in the middle of what a client sends."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading


class CuttingProxy:
    """Passes everything on; connection i is reset when `cuts[i]` bytes have come of the client.

    With `holds` it stays open instead, and nothing is read or written any more, at either end.
    Segments are those of a real network then, so that send buffers are shorter than long frames.
    """

    def __init__(self, port: int, cuts: list[int], holds: bool = False) -> None:
        self.target, self.cuts, self.connections, self.cut = port, cuts, 0, 0
        self.holds, self.over, self.held = holds, threading.Event(), set[socket.socket]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        if holds:
            self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1448)
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port = self.listener.getsockname()[1]
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def __enter__(self) -> CuttingProxy:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # it is down: so is this, for its client
                client.close()
                continue
            limit = self.cuts[self.connections] if self.connections < len(self.cuts) else None
            self.connections += 1
            for job in ((client, broker, limit), (broker, client, None)):
                self.threads.append(threading.Thread(target=self._pass, args=job))
                self.threads[-1].start()

    def _pass(self, source: socket.socket, sink: socket.socket, limit: int | None) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if limit is not None and passed + len(data) > limit:
                    sink.sendall(data[: limit - passed])
                    self.cut += 1
                    if self.holds:
                        self.held |= {source, sink}
                        break
                    for end in (source, sink):  # a reset, not an orderly end
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    break
                if source not in self.held:
                    sink.sendall(data)
                passed += len(data)
        if source in self.held:
            self.over.wait()
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        source.close()
