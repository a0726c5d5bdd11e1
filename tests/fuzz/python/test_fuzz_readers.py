"""Do readers answer or refuse whatever they are given? The kept corpus, and some new cases.

`make fuzz` looks for longer.
"""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from case_changes import mutated
from case_files import kept, pack, unpack
from damage import document_of, paths_of
from hypothesis import HealthCheck, given, settings
from target_results import good as good_results
from target_sweeps import good as good_sweeps
from targets import CORPUS, MODULES, Target, target_of

from dvsim.errors import DvsimError

CASES = [(name, case, files) for name in MODULES for case, files in kept(CORPUS / name)]
FEW = {"result": 8, "sweep": 8, "set": 8, "scenario": 15, "card": 15}
"""Cases of targets that take longer; of the others `SOME`."""
SOME = 40


def answered(name, files, folder):
    """Read a case; what a reader does not promise is an error of the test."""
    target = target_of(name)
    try:
        return target.read(files, folder)
    except target.refusals as error:
        assert str(error)
        return type(error)


@pytest.mark.parametrize(
    ("name", "files"), [pytest.param(n, files, id=f"{n}-{case}") for n, case, files in CASES]
)
def test_what_was_found_once_is_answered(name, files, tmp_path):
    answered(name, files, tmp_path)


@pytest.mark.parametrize("name", MODULES)
def test_good_cases_are_good(name, tmp_path):
    good = 0
    for number, files in enumerate(target_of(name).seeds()):
        folder = tmp_path / str(number)
        folder.mkdir()
        answer = answered(name, files, folder)
        good += isinstance(answer, str)
    assert good, f"{name}: every seed is refused, so nothing behind the first check is fuzzed"


@pytest.mark.parametrize("name", MODULES)
def test_changed_cases_are_answered(name, tmp_path_factory):
    target = target_of(name)
    pool = [*target.seeds(), *(files for _, files in kept(CORPUS / name))]

    @settings(
        max_examples=FEW.get(name, SOME),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(target.changed(pool))
    def some(files):
        answered(name, files, tmp_path_factory.mktemp("case"))

    some()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("seed-was-changed", "is not what was asked"),
        ("replications-were-changed", "9 replications"),
        ("a-sample-was-changed", r"samples\.parquet"),
        ("a-negative-sample", "messages is -1"),
        ("cards-are-true", "cards: must be a list, not true"),
        ("name-leads-out", "scenario: must be a relative path"),
        ("a-table-is-gone", r"histograms\.parquet is missing"),
        ("cut", r"values\.parquet is truncated"),
    ],
)
def test_a_damaged_result_is_not_taken_for_a_good_one(case, said, tmp_path):
    files = unpack((CORPUS / "result" / case).read_bytes())
    with pytest.raises(DvsimError, match=said):
        target_of("result").read(files, tmp_path)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("digest-leads-out", r"swept\.digest: 'x/\.\./\.\./\.\./out' is not valid"),
        ("points-without-end", r"swept\.points: must be at most"),
        ("a-point-was-changed", r"points\.parquet"),
        ("a-value-was-changed", r"values\.parquet"),
        ("a-point-that-was-not-asked", r"points\.parquet does not number its points"),
        ("nothing-was-asked", "no study is made by backend 'sweep'"),
    ],
)
def test_a_damaged_sweep_is_not_taken_for_a_good_one(case, said, tmp_path):
    files = unpack((CORPUS / "sweep" / case).read_bytes())
    with pytest.raises(DvsimError, match=said):
        target_of("sweep").read(files, tmp_path)


@pytest.mark.parametrize(
    ("name", "files"),
    [pytest.param(n, f, id=f"{n}-{case}") for n, case, f in CASES if n in ("result", "sweep")],
)
def test_what_a_case_damages_is_there(name, files):
    """Otherwise a case of a former layout would be read as a good folder."""
    document = document_of(files)
    folder = (good_sweeps if name == "sweep" else good_results)()[document.get("of", "sweep")]
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    changed = {path for path, _ in document.get("set", [])} | {*document.get("unset", [])}
    assert changed <= {*paths_of(manifest)}
    for table, column, row, _ in document.get("cell", []):
        rows = pq.read_table(folder / table, columns=[column])
        assert rows.num_columns == 1 and rows.num_rows > row
    swapped = document.get("swap", {})
    named = {*document.get("cut", {}), *document.get("flip", {}), *document.get("gone", [])}
    assert {*swapped, *swapped.values(), *named} <= {path.name for path in folder.iterdir()}


def test_a_case_comes_back_as_it_was():
    files = {"a.csv": b"1\n\n2\n", "b": b"", "c.parquet": bytes(range(256))}
    assert unpack(pack(files)) == files


def test_a_defect_is_found_and_made_small(tmp_path, monkeypatch, capsys):
    sys.path.insert(0, str(Path(__file__).parent))
    import importlib.util

    spec = importlib.util.spec_from_file_location("fuzz_run", Path(__file__).with_name("run.py"))
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)

    def read(files, folder):
        return {}["key"] if b"rate" in files["a"] and b"7" in files["a"] else "good"

    broken = Target(lambda: [{"a": b"rate,other\n1,2\n"}], read, (ValueError,), mutated)
    monkeypatch.setattr("targets.target_of", lambda name: broken)
    monkeypatch.setattr(program, "CRASHES", tmp_path)
    fuzzing = program.Fuzzing("broken", seed=1)
    for _ in range(20):
        fuzzing.round()
        if fuzzing.crashes:
            break
    assert len(fuzzing.crashes) == 1
    assert "KeyError" in capsys.readouterr().err
    (kept_case, *_) = (tmp_path / "broken").iterdir()
    assert len(kept_case.read_bytes()) < 40


def test_the_program_names_its_targets():
    command = [sys.executable, str(Path(__file__).with_name("run.py")), "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(MODULES)
