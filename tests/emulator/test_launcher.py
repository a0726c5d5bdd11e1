"""vicrun: does it start what it is asked to, say what is wrong, and return what it should?"""

import json
import subprocess

import pytest
from emulator_build import SMALL


def vicrun(emulator, *arguments, **options):
    command = [str(emulator.prefix / "bin" / "vicrun"), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=200, **options
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "-n: say how many cards"),
        (["-n", "2"], "PROGRAM: say what to run"),
        (["-n", "0", "true"], "-n: '0' is not a number of cards, 1 .. 65536"),
        (["-n", "-1", "true"], "-n: '-1' is not"),
        (["-n", "65537", "true"], "-n: '65537' is not"),
        (["-n"], "-n: needs a value"),
        (["--sats", "true"], "no such option '--sats'; did you mean '--stats'?"),
        (["-q", "true"], "no such option '-q'"),
        (["--pref", "true"], "did you mean '--prefix'?"),
        (["--check=yes", "true"], "--check: 'yes' is too much: it has no value"),
        (["-n2"], "PROGRAM: say what to run"),
        (["--mode", "timd"], "--mode: 'timd' is not functional or timed; did you mean 'timed'?"),
        (["--seed", "x"], "--seed: 'x' is not a whole number"),
        (["--reorder", "-3"], "--reorder: '-3' is not a whole number"),
        (["--fault", "fifo-dorp=1"], "did you mean 'fifo-drop'?"),
        (["--fault", "fifo-drop=2"], "fifo-drop: '2' is not a probability, 0 .. 1"),
        (["--fault", "fifo-drop=nan"], "fifo-drop: 'nan' is not a probability"),
        (["--fault", "fifo-drop"], "fifo-drop: '' is not a value after '='"),
        (["--fault", "fifo-depth=0"], "fifo-depth: '0' is not a number of words"),
        (["--fault", "dma-slow=0.5"], "dma-slow: '0.5' is not a factor, 1 .. 1e6"),
        (["--fault", "extra-polls=1"], "extra-polls: '1' is not a probability, 0 .. 0.999"),
        (["--fault", "stall card=1 at=1ms"], "stall needs card=K at=TIME for=TIME"),
        (["--fault", "stall crd=1"], "did you mean 'card'?"),
        (["--fault", "kill card=1 at=5"], "at: '5' is not a time such as 5ms"),
        (["--fault", "kill card=1 at=1s at=1s"], "each once"),
        (["-n", "2", "--fault", "kill card=2 at=1s", "true"], "the job has no card 2, but 0 .. 1"),
        (["--set", "srm=8"], "'srm' is not a parameter that vicrun knows; did you mean 'sram'?"),
        (["--set", "sram=8 MiB"], "sram: '8 MiB' is not a whole number of base units"),
        (["-n", "1", "--set", "sram=0", "true"], "sram must be 8 B .. 32 MiB"),
        (["-n", "1", "--set", "sram=99999999999", "true"], "sram must be 8 B .. 32 MiB"),
        (["-n", "1", "--set", "group_counters=3", "true"], "group_counters must be 4 .. 64"),
        (["-n", "1", "--set", "fifo_words=0", "true"], "fifo_words must be 1 .. 2^24"),
        (["--card-file", "/no/such", "true"], "/no/such: No such file or directory"),
    ],
)
def test_a_wrong_command_line_is_refused(emulator, arguments, said):
    done = vicrun(emulator, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("vicrun: ") and said in done.stderr
    assert done.stderr.count("\n") == 1


def test_too_many_cards_are_refused_with_bytes_before_anything_is_made(emulator):
    done = vicrun(emulator, "-n", "60000", "--", "true")
    assert done.returncode == 2
    assert "60000 cards need 20" in done.stderr and "bytes" in done.stderr


def test_a_card_file_sets_the_sizes(emulator, tmp_path):
    card = tmp_path / "card"
    card.write_text("# sizes\n\nsram = 8000\nfifo_words=17 # words\ngroup_counters = 10\n")
    done = emulator.run(1, "opens", options=["--card-file", str(card)], env={"VIC_INFO": "1"})
    assert done.returncode == 0, done.stderr
    values = {line.split()[3]: line.split()[4] for line in done.stderr.splitlines()[1:]}
    assert (values["sram_words"], values["fifo_words"]) == ("1000", "17")
    assert values["counters"] == "10"
    card.write_text("sram = 8000\nfifo_wrds=17\n")
    done = emulator.run(1, "opens", options=["--card-file", str(card)])
    assert f"{card}:2: 'fifo_wrds' is not" in done.stderr
    assert "did you mean 'fifo_words'?" in done.stderr


@pytest.mark.parametrize(("program", "code"), [("no-such-program", 127), ("/etc", 126)])
def test_a_program_that_cannot_be_run_is_named(emulator, program, code):
    done = vicrun(emulator, "-n", "3", *SMALL, program)
    assert done.returncode == code
    assert done.stderr.startswith(f"vicrun: cannot run '{program}': ")
    assert done.stderr.count("\n") == 1


def ends_in_turn(folder):
    """Return two lines of shell: one ends with 7, and one with 8 when vicrun has noticed that."""
    number = folder / "number"
    first = f"echo $$ >{number}.new; mv {number}.new {number}; exit 7"
    second = f"until test -e {number}; do sleep 0.01; done; "
    second += f"while kill -0 $(cat {number}); do sleep 0.01; done 2>/dev/null; exit 8"
    return first, second


def test_the_first_exit_code_that_is_not_0_is_returned(emulator, tmp_path):
    first, second = ends_in_turn(tmp_path)
    script = f"case $VIC_CARD in 2) {first};; 0) {second};; esac"
    assert vicrun(emulator, "-n", "3", *SMALL, "sh", "-c", script).returncode == 7
    assert vicrun(emulator, "-n", "3", *SMALL, "true").returncode == 0


def test_each_program_is_told_its_card(emulator):
    script = "echo $VIC_CARD/$VIC_CARDS ${VIC_JOB%:*} | tr -d '\\n'; cat"
    done = vicrun(emulator, "-n", "2", *SMALL, "--prefix", "sh", "-c", script, input="typed\n")
    lines = sorted(done.stdout.splitlines())
    assert lines[0].startswith("[0] 0/2 ") and lines[0].endswith("typed")
    assert lines[1].startswith("[1] 1/2 ") and "typed" not in lines[1]


def test_output_is_prefixed_line_by_line(emulator):
    script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; printf 'no end'"
    done = vicrun(emulator, "-n", "12", *SMALL, "--prefix", "sh", "-c", script)
    for card in range(12):
        head = f"[{card:2}] "
        mine = [line for line in done.stdout.splitlines() if line.startswith(head)]
        assert mine == [f"{head}out {i}" for i in (1, 2, 3)] + [f"{head}no end"]
        assert done.stderr.count(f"{head}err ") == 3


def test_a_reader_of_the_output_that_goes_away_stops_nobody(emulator):
    command = [
        str(emulator.prefix / "bin" / "vicrun"),
        "-n",
        "2",
        *SMALL,
        "--prefix",
        "seq",
        "50000",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(200) == 0


def test_the_check_reports_each_counter_once(emulator):
    done = emulator.run(2, "opens", "unexpected", options=[*SMALL, "--check"])
    assert done.returncode == 0
    (line,) = [line for line in done.stderr.splitlines() if "check" in line]
    assert line.startswith("vic: check: card 1: counter 7 read 0 when a packet of card 0 came")
    assert emulator.run(2, "opens", "unexpected").stderr == ""
    by_environment = emulator.run(2, "opens", "unexpected", env={"VIC_CHECK": "1"})
    assert "counter 7" in by_environment.stderr


def test_a_fifo_that_drops_counts_what_it_loses(emulator):
    done = emulator.run(2, "opens", "count", options=[*SMALL, "--fault", "fifo-drop=0.25"])
    assert done.returncode == 0, done.stderr
    got = int(done.stdout.split("got ")[1].split()[0])
    assert 600 < got < 900  # 1,000 draws: 11 standard deviations
    assert f"vicrun: --fault fifo-drop: {1000 - got} FIFO words were lost" in done.stderr
    again = emulator.run(2, "opens", "count", options=[*SMALL, "--fault", "fifo-drop=0.25"])
    assert again.stdout == done.stdout  # the same seed, the same losses
    all_lost = emulator.run(2, "opens", "count", options=[*SMALL, "--fault", "fifo-drop=1"])
    assert "got 0" in all_lost.stdout


def test_reordering_reorders(emulator):
    assert "in order" in emulator.run(1, "opens", "order").stdout
    done = emulator.run(1, "opens", "order", options=[*SMALL, "--reorder", "1"])
    assert "in another order" in done.stdout


def test_a_stalled_card_does_not_answer_and_a_slow_engine_takes_longer(emulator):
    faults = ["--fault", "stall card=1 at=10ms for=2s", "--fault", "dma-slow=10000"]
    done = emulator.run(2, "opens", "clock", options=[*SMALL, *faults])
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("card")]
    longest = {row[1]: int(row[3]) for row in rows}
    assert longest["1"] > 20_000_000  # of 2 s; it may have begun late
    assert all(int(row[5]) >= 10_000_000 for row in rows)  # 10,000 times dma_setup, 1 us


def assert_arrows(events):
    """Do arrows lead from calls that send to arrivals, but for what a full FIFO had held?"""
    begins, ends = ({one["id"]: one for one in events if one["ph"] == ph} for ph in "sf")
    arrivals = {(one["pid"], one["ts"], one["args"]["from"]) for one in events if one["ph"] == "i"}
    arrows = {(ends[k]["pid"], ends[k]["ts"], begins[k]["pid"]) for k in begins}
    assert begins.keys() == ends.keys()
    assert arrows <= arrivals
    assert len(arrows) > len(arrivals) / 2 > 100
    calls = [one for one in events if one["name"] in {"vic_send", "vic_dma_send"}]
    for begin in [*begins.values()][::50]:
        assert any(
            (one["pid"], one["tid"]) == (begin["pid"], begin["tid"])
            and one["ts"] <= begin["ts"] <= one["ts"] + one["dur"] + 0.0011  # they are rounded
            for one in calls
        )


@pytest.mark.parametrize("mode", ["functional", "timed"])
def test_the_trace_is_one_json_file_with_calls_packets_counters_and_fifo(emulator, tmp_path, mode):
    path = tmp_path / "trace.json"
    options = [*SMALL, "--mode", mode, "--trace", str(path), "--stats"]
    done = emulator.run(3, "surprise", options=options)
    assert done.returncode == 0, done.stderr
    trace = json.loads(path.read_text())
    events = trace["traceEvents"]
    names = {event["name"] for event in events}
    assert {"vic_send", "vic_fifo_wait", "vic_barrier", "packets", "counter 4", "FIFO"} <= names
    assert {event["pid"] for event in events} == {0, 1, 2}
    assert all(event["ts"] >= 0 for event in events if event["ph"] != "M")
    assert trace["metadata"]["every_nth_event"] >= 1
    assert [path] == list(tmp_path.iterdir())
    assert_arrows(events)
    table = [line.split() for line in done.stderr.splitlines()]
    words = [int(row[3]) for row in table if len(row) > 3 and row[1] in "012"]
    assert words == [6000] * 3


def test_a_trace_that_cannot_be_written_is_an_error(emulator, tmp_path):
    path = tmp_path / "no" / "trace.json"
    done = emulator.run(1, "opens", options=[*SMALL, "--trace", str(path)])
    assert done.returncode == 1
    assert f"--trace: cannot write '{path}'" in done.stderr
