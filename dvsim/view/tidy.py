"""All results as one tidy table: a row for each number, for CSV and Parquet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dvsim.study.changes import changes_of
from dvsim.table.result import Result
from dvsim.view.published import PRINTED

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation

KEYS = ["scenario", "backend", "seed", "replications", "version"]
JUDGED = ["published", "tolerance", "verdict", "split"]


def tidy(results: Sequence[Result], validation: Validation | None) -> pd.DataFrame:
    """Put the estimates of all results under each other.

    Returns:
        DataFrame: `KEYS`, then for runs of a system transport and message_bytes; then as
        `dvsim.table.result.Result.estimates`; where columns were published also `JUDGED`. A run is
        judged if it is the last of its scenario, as on the page.
    """
    judged = {
        result.scenario.name: result for result in results if not changes_of(result.scenario).said
    }
    parts = []
    for result in results:
        own = [result] if result.sampled else []
        table = result.estimates()
        for run in own:
            table.insert(0, "transport", run.scenario.system.transport)
            table.insert(1, "message_bytes", run.scenario.workload.message_bytes)
        made = result.manifest
        asked = [made.backend, result.seed, result.replications, made.version]
        values = [result.scenario.name, *asked]
        for index, (name, value) in enumerate(zip(KEYS, values, strict=True)):
            table.insert(index, name, [value] * len(table))
        for run in own if validation is not None and validation.judged else ():
            judge = judged.get(run.scenario.name) is run and run.backend != "emu"
            table = with_verdicts(table, run.scenario.readings[0], validation if judge else None)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def with_verdicts(table: pd.DataFrame, own: str, validation: Validation | None) -> pd.DataFrame:
    """Set published values and verdicts beside the estimates; `own` is what the source counts."""
    if validation is None:
        return table.assign(published=math.nan, tolerance=math.nan, verdict="", split="")
    counted = validation.rows["reading"].map({PRINTED: own}).fillna("messages")
    rows = validation.rows.assign(metric=counted + "." + validation.rows["statistic"])
    keys = ["scenario", "component", "metric"]
    rows = rows.rename(columns={"column": "component"})[[*keys, *JUDGED]]
    joined = table.merge(rows.drop_duplicates(keys), on=keys, how="left")
    return joined.fillna({"verdict": "", "split": ""})


def to_csv(table: pd.DataFrame) -> bytes:
    """Write the table as CSV, with all digits."""
    text: str = table.to_csv(index=False, lineterminator="\n")
    return text.encode()


def to_parquet(table: pd.DataFrame) -> bytes:
    """Write the table as Parquet without metadata, so that equal tables give equal bytes."""
    plain = table.copy()
    for name in filter(lambda name: pd.api.types.is_object_dtype(plain[name]), plain.columns):
        plain[name] = plain[name].map(lambda value: None if value is None else str(value))
    sink = pa.BufferOutputStream()
    arrow = pa.Table.from_pandas(plain, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(arrow, sink, compression="zstd", version="2.6")
    data: bytes = sink.getvalue().to_pybytes()
    return data
