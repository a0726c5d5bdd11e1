"""Can a name or a file of somebody else lead out of a folder, into a shell or onto a terminal?"""

import json
import os
import stat
import subprocess

import pytest

from dvsim.atomic import whole_folder
from dvsim.broker import compile_bridge, files
from dvsim.cli.plain_text import plain
from dvsim.contract.load import load
from dvsim.errors import OutputError, ScenarioError
from dvsim.scenario.find import find_card, resolve_name
from dvsim.study.folder import run_folder
from dvsim.study.sweep import prepare
from dvsim.study.sweeps.grid import plan

OUT = ["..", "../x", "/etc/x", "a/../../x", "a//x", ".", "a/./x", "a\0b", "a\nb", "x" * 300]


@pytest.mark.parametrize("name", OUT)
def test_a_scenario_cannot_be_named_out_of_the_folder_of_results(desk, name):
    desk.edit("tcp.toml", 'title = "over tcp"\n', f'title = "x"\nname = {json.dumps(name)}\n')
    (fault,) = desk.faults("tcp.toml")
    assert ": name: must " in fault


@pytest.mark.parametrize("name", OUT[:7])
def test_a_folder_of_results_is_below_its_root_whatever_the_name(tmp_path, name):
    from dataclasses import replace

    scenario = replace(load("h3/dv-8"), name=name)
    folder = run_folder(tmp_path / "runs", scenario, "1", 1, "sim")
    assert os.path.normpath(folder) == str(folder)
    assert folder.is_relative_to(tmp_path / "runs")


@pytest.mark.parametrize("name", ["../models/cards/fdr-ipoib", "/etc/passwd", "..", "a/b", ""])
def test_a_card_is_named_not_reached_by_a_path(tmp_path, name):
    (tmp_path / "cards").mkdir()
    assert find_card(name, [tmp_path]) is None


@pytest.mark.parametrize("name", ["../dvsim/../scenarios/h3/dv-8/../../../x", "../../etc/x", "x\0"])
def test_a_scenario_name_is_one_below_the_packaged_ones(name):
    with pytest.raises(ScenarioError, match="no such scenario"):
        resolve_name(name)


def test_a_link_in_the_place_of_a_result_is_not_followed(tmp_path):
    """Who can write in the folder of results may put one there; what it leads to stays as it is."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("keep")
    folder = tmp_path / "runs" / "result"
    folder.parent.mkdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(OSError, match=r"."), whole_folder(folder) as partial:
        (partial / "file").write_text("new")
    assert [path.name for path in elsewhere.iterdir()] == ["mine"]
    assert [path.name for path in folder.parent.iterdir()] == ["result"]


def test_what_a_dead_process_left_is_removed_and_nothing_behind_a_link(tmp_path):
    from dvsim.atomic import clean, host_name

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("keep")
    root = tmp_path / "runs"
    root.mkdir()
    dead = subprocess.Popen(["true"])
    dead.wait()
    (root / f".partial-{host_name()}-{dead.pid}-x-00000000").symlink_to(elsewhere)
    clean(root)
    assert (elsewhere / "mine").read_text() == "keep"


def test_a_link_among_temporary_files_leads_nobody_to_our_folders(tmp_path, monkeypatch):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / files.LOCK).write_text("of another program")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    (temporary / f"{files.PREFIX}x").symlink_to(mine)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    files.remove_left()
    assert (mine / files.LOCK).read_text() == "of another program"


def test_a_new_folder_of_secrets_is_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = os.umask(0)
    try:
        folders = [files.PrivateFolder(), files.PrivateFolder(tmp_path / "given")]
    finally:
        os.umask(before)
    for folder in folders:
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
        folder.close()


@pytest.mark.parametrize("what", ["program", "folder"])
def test_a_compiled_bridge_that_others_can_write_is_not_run(tmp_path, what):
    folder = tmp_path / "vicbridge-0"
    folder.mkdir()
    program = folder / "vicbridge"
    program.write_text("")
    compile_bridge.check_ours(program)
    (program if what == "program" else folder).chmod(0o777)
    with pytest.raises(OutputError, match="others can write it"):
        compile_bridge.check_ours(program)


@pytest.mark.parametrize("name", ["a\nrm -rf x", "a\r#SBATCH --output=x"])
def test_the_name_in_a_comment_of_a_script_stays_on_its_line(desk, name):
    desk.edit("tcp.toml", 'title = "over tcp"\n', f'title = "x"\nname = {json.dumps(name)}\n')
    with pytest.raises(ScenarioError, match="printable"):
        prepare(desk / "tcp.toml", plan(["workload.messages=1000,2000"]), replications=1)


def test_a_terminal_gets_no_control_characters_from_a_file(desk):
    from click.testing import CliRunner

    from dvsim.cli.main import cli

    title = "\\u001b]0;owned\\u0007\\u202e\\u009b31m"
    desk.edit("tcp.toml", 'title = "over tcp"', f'title = "{title}"')
    result = CliRunner().invoke(cli, ["show", str(desk / "tcp.toml")])
    assert result.exit_code == 0
    assert "owned" in result.output
    assert plain(result.output) == result.output
