"""Tables to Parquet bytes and back.

Arrow types are given explicitly and no pandas metadata is stored, so the bytes depend on the rows
and on the pyarrow version only. The bytes are made in memory and written by the caller: their
hash is known before anything touches the disk, and a full disk shows as a plain `OSError`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq


class OtherColumns(ValueError):  # noqa: N818 - reads as a sentence where it is raised
    """A table is good, but has other columns than were asked for."""


_ARROW = {
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "str": pa.string(),
}


def to_parquet(
    table: pd.DataFrame | Mapping[str, Sequence[Any]], columns: Mapping[str, str]
) -> bytes:
    """Return the columns of `table` as one zstd-compressed Parquet file.

    Args:
        table: Any table that has these columns, or the columns by name.
        columns: Name and type of each column, in the order of the file.
    """
    arrays = [pa.array(_plain(table[name], kind), _ARROW[kind]) for name, kind in columns.items()]
    # start times and indices grow evenly: their differences take a tenth of the room
    whole = [name for name, kind in columns.items() if kind.startswith("int")]
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.Table.from_arrays(arrays, names=list(columns)),
        sink,
        compression="zstd",
        version="2.6",
        use_dictionary=[name for name in columns if name not in whole],
        column_encoding=dict.fromkeys(whole, "DELTA_BINARY_PACKED"),
    )
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _plain(values: Any, kind: str) -> Any:  # noqa: ANN401 - a column, a list or an array
    if not isinstance(values, pd.Series):
        return values
    return values.tolist() if kind == "str" else values.to_numpy()


def from_parquet(data: bytes, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return the table in `data`.

    Args:
        data: A file as `to_parquet` makes it.
        columns: Name and type of each column.

    Raises:
        OtherColumns: If `data` holds other columns or types than `columns`.
        ValueError: If it is not Parquet, or is truncated.
    """
    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        text = " ".join(str(error).split())
        raise ValueError(text) from error
    expected = pa.schema([(name, _ARROW[kind]) for name, kind in columns.items()])
    if not table.schema.equals(expected):
        text = f"columns are {', '.join(table.schema.names)}; expected {', '.join(columns)}"
        raise OtherColumns(text)
    gaps = [name for name, kind in columns.items() if "int" in kind and table[name].null_count]
    if gaps:  # pandas would make floats of them
        raise ValueError(f"values are missing in column {gaps[0]}")
    frame: pd.DataFrame = table.to_pandas()
    return frame
