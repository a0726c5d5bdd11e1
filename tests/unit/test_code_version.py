"""Does the version of the code change with each file that decides the numbers?"""

import pytest

from dvsim.core import code


@pytest.fixture
def package(tmp_path, monkeypatch):
    names = [f"{folder}/inner/model.py" for folder in (*code.FOLDERS, *code.EMULATED)]
    for name in (*names, *code.FILES):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("speed = 1\n", "utf-8")
    monkeypatch.setattr(code, "PACKAGE", tmp_path)
    return tmp_path


@pytest.mark.parametrize("folder", (*code.FOLDERS, *code.EMULATED))
def test_every_folder_is_there_and_has_code(folder):
    assert any((code.PACKAGE / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", code.FOLDERS)
def test_a_changed_file_in_any_folder_gives_another_version(package, folder):
    version = code.code_version.__wrapped__
    before = version()
    assert version() == before
    (package / folder / "inner" / "model.py").write_text("speed = 2\n", "utf-8")
    assert version() != before


@pytest.mark.parametrize("folder", code.EMULATED)
def test_a_changed_harness_gives_emulated_runs_another_version(package, folder):
    version = code.emulated_version.__wrapped__
    before, simulated = version(), code.code_version.__wrapped__()
    (package / folder / "inner" / "model.py").write_text("speed = 2\n", "utf-8")
    assert version() != before
    assert code.code_version.__wrapped__() == simulated
