"""vicrun: is each number refused that is out of its range, and is each limit itself taken?"""

import pytest
from emulator_build import SMALL
from test_launcher import vicrun

TOO_LATE = str(10**12 + 1)
BUS = "pio_write must be 1 ns .. 1 s and poll_mirror 1 ps .. 1 s"
TIMES = "fifo_pop, dma_setup and link must be 0 .. 1 s"
RATES = "pio_rate and port_rate must be 1 kB/s .. 1e15 B/s"
SHAPE = "planes must be 1 .. 64 and switch_angles 1 .. 4096"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("group_counters=65", "group_counters must be 4 .. 64"),
        ("fifo_words=16777217", "fifo_words must be 1 .. 2^24"),
        ("fifo_words=99999999999", "fifo_words must be 1 .. 2^24"),
        ("dma_entries=0", "dma_entries must be 1 .. 2^20"),
        ("dma_entries=1048577", "dma_entries must be 1 .. 2^20"),
        ("pcie_rate=0", "pcie_rate must be at least 1 B/s"),
        ("pio_write=999", BUS),
        (f"pio_write={TOO_LATE}", BUS),
        ("pio_write=18446744073709551615", BUS),
        ("poll_mirror=0", BUS),
        (f"poll_mirror={TOO_LATE}", BUS),
        ("pio_read=1", "pio_read crosses PCIe twice"),
        (f"pio_read={TOO_LATE}", "pio_read crosses PCIe twice"),
        (f"fifo_pop={TOO_LATE}", TIMES),
        (f"dma_setup={TOO_LATE}", TIMES),
        (f"link={TOO_LATE}", TIMES),
        ("pio_rate=999", RATES),
        ("port_rate=999", RATES),
        ("port_rate=1000000000000001", RATES),
        ("send_words=0", "send_words must be 1 .. 2^24"),
        ("send_words=16777217", "send_words must be 1 .. 2^24"),
        ("planes=0", SHAPE),
        ("planes=65", SHAPE),
        ("switch_angles=0", SHAPE),
        ("switch_angles=4097", SHAPE),
        ("novalue", "is not key=value"),
        ("sram=" + "8" * 300, "is too long"),
    ],
)
def test_a_card_out_of_its_ranges_is_refused(emulator, number, said):
    done = vicrun(emulator, "-n", "1", *SMALL, "--mode", "timed", "--set", number, "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fault", "stall card=x at=1ms for=1ms"], "card: 'x' is not the number of a card"),
        (["--fault", "stall card at=1ms"], "'card' is not one of card=K at=TIME for=TIME"),
        (["--fault", "kill card=0 for=1ms"], "'for' is not one of card=K at=TIME, each once"),
        (["--fault", "kill=0"], "kill: '0' is not card=K at=TIME after a space"),
        (["--fault", "kill"], "kill needs card=K at=TIME"),
        (["--fault", "x" * 200], "--fault: "),
        (["--fault", "kill card=0 at=1s"] * 17, "kill: at most 16 of a kind"),
        (["--stats-fd", "77"], "'77' is not an open file descriptor"),
        (["--stats-fd", "two"], "'two' is not an open file descriptor"),
        (["--if-killed", "leave:3"], "'leave:3' is not end, leave, restart"),
        (["--if-killed", "restart:x"], "'restart:x' is not end, leave, restart"),
        (["--if-killed", "restore"], "did you mean 'restart'?"),
        (["--trace-limit", "99999"], "--trace-limit: goes with --trace"),
        (["--card-file", "/"], "/: cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value)[:40],
)
def test_a_fault_or_option_out_of_its_range_is_refused(emulator, arguments, said):
    done = vicrun(emulator, "-n", "1", *SMALL, *arguments, "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_line_of_a_card_file_that_is_no_parameter_is_named(emulator, tmp_path):
    card = tmp_path / "card"
    for text, said in (
        ("sram=8192\nfifo_words\n", f"{card}:2: is not key=value"),
        ("# " + "x" * 300 + "\n", f"{card}:1: is longer than any parameter"),
        ("\n \t\r\nlink = 1 ns\n", f"{card}:3: link: '1 ns' is not a whole number of base units"),
    ):
        card.write_text(text)
        done = vicrun(emulator, "-n", "1", "--card-file", str(card), "true")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


def test_a_line_of_a_file_of_hosts_that_names_none_is_named(emulator, tmp_path):
    """The rest of a line that is too long is no line of its own, and so no host."""
    hosts = tmp_path / "hosts"
    for text, said in (
        ("a 1\n# " + "x" * 1100 + "\n", f"{hosts}:2: is longer than any host"),
        ("a 1\nb two\n", f"{hosts}:2: host b: 'two' is not a number of cards, 1 .. 65536"),
        ("# nobody\n", f"'{hosts}' names no host"),
    ):
        hosts.write_text(text)
        done = vicrun(emulator, "--hosts-file", str(hosts), "true")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


@pytest.mark.parametrize("option", ["--hosts-file", "--card-file"])
def test_a_folder_is_no_file_of_lines(emulator, tmp_path, option):
    done = vicrun(emulator, "-n", "1", option, str(tmp_path), "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path}: cannot be read" in done.stderr


def test_limits_themselves_are_taken(emulator):
    limits = ("fifo_pop=0", "dma_setup=0", "link=0", "pio_write=1000", "pio_read=2000",
              "poll_mirror=1", "send_words=1", "planes=1", "switch_angles=1")  # fmt: skip
    sets = [word for limit in limits for word in ("--set", limit)]
    command = ["-n", "2", *SMALL, "--mode", "timed", *sets]
    command += ["--fault", "stall card=1 at=1ms for=2us"]
    program = str(emulator.program("exchange"))
    done = vicrun(emulator, *command, program, env={"VIC_INFO": "1", "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ("pio_write", "switch_angles", "stall at", "stall for"):
        assert line in done.stderr  # VIC_INFO: what the card is


@pytest.mark.parametrize(("option", "begins"), [("--version", "vicrun 0"), ("--help", "usage: ")])
def test_what_it_says_of_itself(emulator, option, begins):
    done = vicrun(emulator, option)
    assert done.returncode == 0
    assert done.stdout.startswith(begins)


def test_a_long_line_without_an_end_is_passed_on_in_pieces(emulator):
    script = "head -c 20000 /dev/zero | tr '\\0' x; echo; printf end"
    done = vicrun(emulator, "-n", "1", *SMALL, "--prefix", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert all(line.startswith("[0] ") for line in lines)
    assert sum(line.count("x") for line in lines) == 20000
    assert lines[-1] == "[0] end"


def test_prefixes_are_of_one_width(emulator):
    tiny = ["--set", "sram=512", "--set", "fifo_words=1", "--set", "dma_entries=1"]
    done = vicrun(emulator, "-n", "101", *tiny, "--prefix", "/bin/echo", "x")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(f"[{card:3}] x" for card in range(101))
