"""Is what people nearly write right taken, or answered with what to write?"""

import pytest
from harness.in_process import dvsim
from harness.replies import Told

MINE = 'extends = "h3/dv-2048"\n'


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "mine.yaml").write_text("extends: h3/dv-2048\n")
    (tmp_path / "own.toml").write_text('extends = "data-vortex-8"\nring = "1 MiB"\n')
    (tmp_path / "far.toml").write_text('extends = "dv-2048.toml"\n')
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "card.toml").write_text('kind = "vortex"\ntitle = "Mine"\n')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "mine"], "mine: no such scenario; a file is named with its ending; "
         "did you mean 'mine.toml'?"),
        (["run", "mine.yaml"], "mine.yaml: no such scenario; the name of a scenario file"),
        (["run", "."], ".: is a folder, not a scenario; `dvsim list` names them all\n"),
        (["check", "folder.toml"], "folder.toml: is a folder, not a scenario file\n"),
        (["check", "far.toml"], "no such file 'dv-2048.toml'; did you mean 'h3/dv-2048'?"),
        (["run", "card.toml"],
         "kind: is a vortex card, which a scenario takes: dvsim run SCENARIO --set system."),
        (["run", "own.toml"], "own.toml:1: extends: 'data-vortex-8' is a card, and so is this, "
         "which a scenario takes: dvsim run SCENARIO --set system.NAME=FILE\n"),
        (["validate", "h4"], "h4: no such source; did you mean 'h3'?\n"),
        (["validate", "zeromk"], "zeromk: no such source; did you mean 'zeromq'?\n"),
        (["validate", "h3", "--set", "sokets=2"], "sokets: unknown key; did you mean 'system"),
        (["run", "h3/dv-8", "--set", "card=dv8"], "no card 'dv8'; try data-vortex-8"),
        (["run", "rabbit/one", "--set", "storage=gp2"], "no card 'gp2'; there are gp2-1000, io1"),
        (["run", "h3/dv-8", "--set", "messages=1.5"], "must be a whole number, not 1.5"),
        (["run", "h3/dv-8", "--scale", "a lot"], "'a lot' is no factor, such as 0.01 or 1%"),
        (["limit", "switch/zero-load", "--vary", "load", "--until", "hops > 3"],
         "did you mean 'mean_hops'?"),
    ],
)  # fmt: skip
def test_a_near_miss_is_told_what_was_meant(words, said):
    done = dvsim(*words)
    assert done.returncode == 2
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize("written", ["1e3", "1000", "1_000"])
def test_a_whole_number_may_have_an_exponent(written):
    done = dvsim("run", "h3/dv-8", "--set", f"messages={written}", "--replications", "1")
    assert done.returncode == 0, done.stderr
    assert "1,000 messages of 8 B" in done.stdout


def test_the_scale_may_be_in_percent():
    one, other = (
        dvsim("run", "h3/dv-8", "--scale", scale, "--replications", "1", "--json")
        for scale in ("0.1%", "0.001")
    )
    assert one.returncode == 0, one.stderr
    assert Told(one.stdout).values == Told(other.stdout).values


def test_both_ends_of_a_range_have_the_unit_of_the_second():
    done = dvsim("sweep", "h3/dv-8", "--vary", "sram=32..128 MiB*2", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "64 MiB" in done.stdout


@pytest.mark.parametrize("bound", ["10", "10 msg/s", "1e1 msg/s"])
def test_a_bound_may_have_the_unit_of_its_metric(bound):
    done = dvsim("limit", "rabbit/one", "--vary", "rate", "--until", f"rate_out > {bound}",
                 "--set", "seconds=2", "--between", "1000", "2000",
                 "--replications", "2")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "until rate_out > 10" in done.stdout
