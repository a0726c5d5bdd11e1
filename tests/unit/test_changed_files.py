"""Is a file read anew once it has changed, within one process?"""

import os

import dvsim
from dvsim.kinds.workload.collectives import MPICH
from dvsim.kinds.workload.model import digest_of
from dvsim.scenario.reference import read_csv
from dvsim.study.changes import changes_of

MINE = 'extends = "h3/dv-2048"\ntitle = "mine"\n[system.bridge]\nsockets = 1\n'


def rewrite(path, text):
    """Write a file, and give it the time that it had: only its content tells that it changed."""
    before = path.stat() if path.exists() else None
    path.write_text(text)
    if before is not None:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_result_is_named_by_its_file_as_it_is(tmp_path):
    path = tmp_path / "mine.toml"
    for sockets in (1, 4, 2):
        rewrite(path, MINE.replace("sockets = 1", f"sockets = {sockets}"))
        run = dvsim.run(path, replications=1, scale=0.001)
        assert changes_of(run.scenario).said == ()


def test_a_card_beside_the_file_counts_too(tmp_path):
    path, cards = tmp_path / "mine.toml", tmp_path / "cards"
    cards.mkdir()
    path.write_text('extends = "h3/dv-2048"\n[system]\nbridge = "own"\n')
    for cost in ("1 us", "9 us"):
        text = f'extends = "h3-bridge"\nname = "own"\n[push]\nvalue = "{cost}"\n'
        rewrite(cards / "own.toml", text + 'confidence = "assumed"\nsource = "test"\n')
        assert changes_of(dvsim.load(path)).said == ()


def test_tables_and_traces_are_read_anew(tmp_path):
    table, trace = tmp_path / "a.csv", tmp_path / "a.goal"
    found = []
    for size in (8, 9):
        rewrite(table, f"size\n{size}\n")
        rewrite(
            trace,
            f"num_ranks 2\nrank 0 {{\na: send {size}b to 1\n}}\n"
            f"rank 1 {{\nb: recv {size}b from 0\n}}\n",
        )
        found.append((read_csv(table)[0]["size"], digest_of(trace, MPICH)))
    assert found[0][0] == "8" and found[1][0] == "9"
    assert found[0][1] != found[1][1]
