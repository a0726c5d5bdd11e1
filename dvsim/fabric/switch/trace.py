"""Traffic from a list of packets: a CSV with the columns slot, input, output, or three arrays."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import Ints
from dvsim.errors import ArgumentError

COLUMNS = ["slot", "input", "output"]


class Trace(NamedTuple):
    """One packet per place of the three arrays; slots ascend."""

    slot: Ints
    input: Ints
    output: Ints


def read_trace(
    trace: Any,  # noqa: ANN401 - a path or three arrays
    inputs: npt.NDArray[np.bool_],
    outputs: int,
    at_once: int = 1,
) -> Trace:
    """Read a trace and check it.

    Args:
        trace: A path, or (slots, inputs, outputs) as three sequences of equal length.
        inputs: For each port whether it is an input.
        outputs: Number of outputs.
        at_once: Packets that an input can take in one slot.

    Raises:
        ValueError: For a file that cannot be read, a line that is no packet, slots out of order,
            more than `at_once` packets at one input in one slot, or a port that does not exist; the
            text has file and line.
    """
    if isinstance(trace, str | os.PathLike):
        path = Path(trace)
        read = _from_file(path)

        def place(index: int) -> str:
            return f"{path}:{index + 2}"

    else:
        read = _from_arrays(trace)

        def place(index: int) -> str:
            return f"trace[{index}]"

    _check(read, inputs, outputs, at_once, place)
    return read


def _wrong(message: str, place: str = "trace:") -> ArgumentError:
    return ArgumentError("trace", message, place)


def _from_file(path: Path) -> Trace:
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - do not raise
        raise _wrong(f"{path} is not a file")  # a device may never end
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise _wrong(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _wrong(f"{path} is not a text file") from None
    rows = csv.reader(io.StringIO(text))
    header = next(rows, [])
    if [name.strip() for name in header] != COLUMNS:
        raise _wrong(f"the header must be {','.join(COLUMNS)}", f"{path}:1:")
    packets = list(_numbers(rows, path))
    columns = np.array(packets, dtype=np.int64).reshape(-1, 3).T
    return Trace(*columns)


def _numbers(rows: Iterator[list[str]], path: Path) -> Iterator[list[int]]:
    limits = np.iinfo(np.int64)
    try:
        for line, row in enumerate(rows, start=2):
            try:
                packet = [int(cell) for cell in row]
            except ValueError:
                packet = []
            if len(packet) != len(COLUMNS) or not all(abs(n) <= limits.max for n in packet):
                message = f"expected three whole numbers, found {','.join(row)!r}"
                raise _wrong(message, f"{path}:{line}:")
            yield packet
    except csv.Error as error:
        raise _wrong(f"{path} is not a CSV file: {error}") from None


def _from_arrays(trace: Any) -> Trace:  # noqa: ANN401
    try:
        slot, source, target = (np.asarray(column) for column in trace)
    except (TypeError, ValueError):
        message = "must be a path or three arrays (slots, inputs, outputs)"
        raise ArgumentError("trace", message) from None
    for name, column in zip(COLUMNS, (slot, source, target), strict=True):
        if column.ndim != 1 or column.shape != slot.shape:
            raise _wrong(f"the {name} array must be one-dimensional and as long as slot")
        if column.size and column.dtype.kind not in "iu":
            raise _wrong(f"the {name} array must hold whole numbers")
    return Trace(*(column.astype(np.int64) for column in (slot, source, target)))


def _check(
    trace: Trace,
    inputs: npt.NDArray[np.bool_],
    outputs: int,
    at_once: int,
    position: Callable[[int], str],
) -> None:
    ports = inputs.size
    before = np.concatenate([trace.slot[:1], trace.slot[:-1]])
    no_port = (trace.input < 0) | (trace.input >= ports)
    no_input = ~inputs.flat[np.where(no_port, 0, trace.input)]
    by_port = np.lexsort((trace.slot, trace.input))  # stable: the later of two is the wrong one
    slot, source = trace.slot[by_port], trace.input[by_port]
    twice = np.zeros(trace.slot.size, dtype=np.bool_)
    same = (slot[at_once:] == slot[:-at_once]) & (source[at_once:] == source[:-at_once])
    twice[by_port[at_once:][same]] = True
    faults: list[tuple[npt.NDArray[np.bool_], str]] = [
        (trace.slot < 0, "slot {slot} is before slot 0"),
        (trace.slot < before, "slot {slot} comes after slot {before}"),
        (no_port, f"input {{input}} is not a port (0..{ports - 1})"),
        (no_input, "input {input} is at an angle that does not inject"),
        (
            (trace.output < 0) | (trace.output >= outputs),
            f"output {{output}} is not a port (0..{outputs - 1})",
        ),
        (
            twice,
            f"input {{input}} has {'two' if at_once == 1 else f'more than {at_once}'} packets "
            "in slot {slot}",
        ),
    ]
    wrong = np.flatnonzero(np.logical_or.reduce([fault for fault, _ in faults]))
    if wrong.size:
        index = int(wrong[0])
        text = next(text for fault, text in faults if fault[index])
        values = {name: int(column[index]) for name, column in zip(COLUMNS, trace, strict=True)}
        raise _wrong(text.format(**values, before=int(before[index])), f"{position(index)}:")
