"""A link that delays, for kernels without netem: two TUN devices, and what carries packets between.

    python delay.py NAMESPACE NAMESPACE MILLISECONDS

makes a device `DEVICE` in each of two network namespaces, which other ones reach through nothing
else, and hands each packet over so much later. It says ``ready`` when they are there; they go
when it ends, which it does at the end of its standard input.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

DEVICE = "slow0"
ADDRESSES = ("10.78.0.1", "10.78.0.2")
MTU = 9000
IFF_TUN, IFF_NO_PI = 1, 0x1000
TUNSETIFF, SIOCSIFADDR, SIOCSIFNETMASK = 0x400454CA, 0x8916, 0x891C
SIOCSIFFLAGS, SIOCSIFMTU, SIOCSIFTXQLEN, IFF_UP = 0x8914, 0x8922, 0x8943, 1
AF_INET = 2
QUEUE = 4000  # packets that a device keeps


def device(namespace: str, address: str) -> int:
    """Return a device that has been made in a namespace: its end of packets."""
    with open(f"/run/netns/{namespace}") as there:  # noqa: PTH123 - the descriptor is wanted
        if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), namespace)
    name = DEVICE.encode()
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name, IFF_TUN | IFF_NO_PI))
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for request, text in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, "255.255.255.0")):
            packed = struct.pack("16sHH4s8x", name, AF_INET, 0, socket.inet_aton(text))
            fcntl.ioctl(asked, request, packed)
        fcntl.ioctl(asked, SIOCSIFMTU, struct.pack("16si12x", name, MTU))
        fcntl.ioctl(asked, SIOCSIFTXQLEN, struct.pack("16si12x", name, QUEUE))
        fcntl.ioctl(asked, SIOCSIFFLAGS, struct.pack("16sH14x", name, IFF_UP))
    return tun


def relay(ends: list[int], delay_s: float) -> None:
    """Hand packets over from each to the other, until standard input ends."""
    waiting: deque[tuple[float, int, bytes]] = deque()  # all wait as long: in the order of time
    while True:
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, to, packet = waiting.popleft()
            os.write(to, packet)
        left = max(0.0, waiting[0][0] - now) if waiting else None
        ready = select.select([0, *ends], [], [], left)[0]
        for end in ready:
            if end == 0:
                return
            packet = os.read(end, 1 << 16)
            waiting.append((time.monotonic() + delay_s, ends[1 - ends.index(end)], packet))


def main() -> None:
    """Make both, say so, and relay."""
    ends = [device(name, at) for name, at in zip(sys.argv[1:3], ADDRESSES, strict=True)]
    print("ready", flush=True)
    relay(ends, float(sys.argv[3]) / 1000)


if __name__ == "__main__":
    main()
