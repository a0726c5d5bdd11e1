"""A folder that is no study, or no longer the study it was, is refused by name."""

import json

import pytest
from manifests import manifest_of
from study_runs import scenario_of, study_of

from dvsim._version import __version__
from dvsim.contract.kind import How
from dvsim.contract.load import load
from dvsim.errors import RunFailed
from dvsim.scenario.render import to_toml
from dvsim.study.folder import run_folder
from dvsim.study.store import contents_of, find_kept, load_result

SCENARIO = scenario_of("small")
MORE = {"backend": "switch", "version": __version__, "command": "dvsim run"}


@pytest.fixture(scope="module")
def study():
    return study_of(SCENARIO, replications=1)


@pytest.fixture
def kept(study, tmp_path):
    """A function that keeps the study, with other files or facts, where its question belongs."""

    def keep(given=None, facts=()):
        contents = contents_of(study) | (given or {})
        folder = run_folder(tmp_path, SCENARIO, __version__, 1, "switch")
        folder.mkdir(parents=True)
        for name, data in contents.items():
            (folder / name).write_bytes(data)
        manifest = manifest_of(**MORE).holding(contents).plain()
        (folder / "manifest.json").write_text(json.dumps(manifest | dict(facts)))
        return folder

    return keep


def refused(folder):
    with pytest.raises(RunFailed) as caught:
        load_result(folder)
    return str(caught.value).removeprefix(f"{folder} ")


@pytest.mark.parametrize("said", [0, 2, 9])
def test_replications_that_its_tables_do_not_have_are_not_believed(kept, said):
    assert "replications" in refused(kept(facts={"replications": said}))


def test_it_is_found_by_its_question(kept, tmp_path):
    assert find_kept(How(__version__, 1, 1), tmp_path, SCENARIO) is None
    folder = kept()
    found = find_kept(How(__version__, 1, 1), tmp_path, SCENARIO)
    assert (found.folder, found.replications) == (folder, 1)


def test_a_backend_that_makes_no_studies_is_named(kept):
    assert "no study is made by backend 'abacus'" in refused(kept(facts={"backend": "abacus"}))


def test_the_scenario_of_another_kind_is_not_believed(kept):
    other = to_toml(load("h3/fdr-8")).encode()
    folder = kept({"scenario.toml": other})
    folder = folder.rename(folder.with_name("mine"))  # a name that says nothing
    assert "its scenario is not of the kind switch" in refused(folder)


def test_a_table_that_is_none_is_named_even_with_its_hash(kept):
    assert refused(kept({"values.parquet": b"PAR1"})).startswith("is not a complete run: ")


def test_a_table_of_other_columns_is_of_another_version(study, kept):
    data = contents_of(study)["events.parquet"]
    said = refused(kept({"values.parquet": data}))
    assert f"was made by dvsim {__version__}" in said and "run it again (dvsim run)" in said


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"seed": None}, ["seed: must be a whole number"]),
        ({"sed": 1}, ["sed: unknown key; did you mean 'seed'?"]),
        ({"host": {"cpu": 3}, "wall_s": -1}, ["host.cpu: ", "host.cores: missing", "wall_s: "]),
        ({"files": {"a": {"bytes": 1, "sha": ""}}}, ["files.a.sha: unknown key; did you mean 's"]),
        (
            {"emulated": {"question": {"node": 1, "promise": ""}}},
            [".node: unknown key; did you me"],
        ),
        ({"swept": {"digest": "../../../../x"}}, ["swept.digest: ", "swept.points: missing"]),
        ({"counts": {"events": "many"}}, ["counts.events: must be a number"]),
        ({"scenario": "../x"}, ["scenario: "]),
    ],
)
def test_a_manifest_that_was_edited_is_refused_by_key_with_the_nearest(kept, change, faults):
    folder = kept(facts=change)
    with pytest.raises(RunFailed) as caught:
        load_result(folder)
    for fault in faults:
        lines = str(caught.value).splitlines()
        assert any(line.startswith(f"{folder}/manifest.json: ") and fault in line for line in lines)


@pytest.mark.parametrize("name", ["format", "seed", "host", "files", "version", "command"])
def test_a_manifest_that_was_cut_is_refused_by_key(kept, name):
    folder = kept()
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest[name]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunFailed, match=f"manifest.json: {name}: missing"):
        load_result(folder)


def test_what_was_changed_by_hand_is_named(kept):
    folder = kept()
    path = folder / "scenario.toml"
    path.write_text(path.read_text().replace("height = 4", "height = 8"))
    assert "scenario.toml was changed after the run: its hash differs" in refused(folder)
