"""Which of the keys that were varied together tells the points of a study apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

    from dvsim.results.points import PointsStudy


def one_of_each(study: PointsStudy, keys: DataFrame) -> DataFrame:
    """Keep one of the keys that were varied together: the first that tells the points apart.

    A broker comes before the client and the settings that go along with it.
    """
    kept = keys
    for table in study.scenario.vary:
        names = [name for name in table if name in keys]
        telling = [name for name in names if keys[name].nunique() == len(table[name])]
        if len(names) > 1 and telling:
            chosen = "broker" if "broker" in telling else telling[0]
            kept = kept.drop(columns=[name for name in names if name != chosen])
    return kept
