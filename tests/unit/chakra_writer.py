"""Writes small Chakra execution traces: protocol buffers, a file for each rank."""

import struct

COMPUTE, SEND, RECV, COLLECTIVE = 4, 5, 6, 7
ALLREDUCE, ALLGATHER, BARRIER = 0, 2, 9


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(number, kind, after=(), micros=0, **attributes):
    """Return a node; its attributes are of 64 bits, texts or floating-point numbers."""
    body = field(1, number) + field(2, f"node {number}") + field(3, kind)
    body += field(5, b"".join(map(varint, after))) if after else b""
    body += field(7, micros)
    for name, value in attributes.items():
        place = {int: 9, float: 3, str: 29}[type(value)]
        body += field(10, field(1, name) + field(place, value))
    return body


def file(*nodes):
    """Return the file of a rank."""
    messages = (field(1, "0.0.4"), *nodes)
    return b"".join(varint(len(one)) + one for one in messages)


def training(ranks=2):
    """Return the files of a step that computes in two branches, sums up and passes on."""
    found = {}
    for rank in range(ranks):
        nodes = [
            node(1, COMPUTE, micros=10),
            node(2, COMPUTE, [1], num_ops=3_000_000_000_000),
            node(3, COLLECTIVE, [1], comm_type=ALLREDUCE, comm_size=64, is_cpu_op=0),
            node(4, COLLECTIVE, [2, 3], comm_type=BARRIER),
        ]
        if rank + 1 < ranks:
            nodes.append(node(5, SEND, [4], comm_dst=rank + 1, comm_size=512, comm_tag=7))
        if rank:
            nodes.append(node(6, RECV, [4], comm_src=rank - 1, comm_size=512, comm_tag=7))
        found[f"step.{rank}.et"] = file(*nodes)
    return found
