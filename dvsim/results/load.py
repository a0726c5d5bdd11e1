"""A folder of results, whichever kind it is of."""

from __future__ import annotations

from pathlib import Path

from dvsim.results.folder import load_run
from dvsim.results.kept import read_manifest
from dvsim.results.points import PointsStudy
from dvsim.results.run import Run
from dvsim.results.study_folder import load_study
from dvsim.results.swept import KIND

NO_STUDIES = ("sim", "emu", KIND, None)


def load_result(folder: Path) -> Run | PointsStudy:
    """Return the run or the study that is kept in `folder`.

    Raises
    ------
    RunFailed
        As `load_run` and `load_study`.
    """
    backend = read_manifest(folder).get("backend")
    return load_run(folder) if backend in NO_STUDIES else load_study(folder)
