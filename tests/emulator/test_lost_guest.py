"""A killed vicrun hangs up before its program is dead: is the card kept until both have gone?

The soak found this, once in some thousand deaths: the next program found its card open. Here
somebody joins who hangs up and lives on, as a vicrun that is killed does for a moment.
"""

import re
import struct
import subprocess
import sys

from emulator_build import ROOT
from harness.processes import until
from test_join import SAY, place, serve

ASK = struct.Struct("<II20sIIII4xQ200s")
HANGS_UP = """
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as launcher:
    launcher.connect("s")
    launcher.send(bytes.fromhex(sys.argv[1]))
    answer = launcher.recv(1000)
print(len(answer), flush=True)
sys.stdin.read()
"""
__all__ = ["place", "serve"]  # fixtures


def ask(card):
    """Return the question of a vicrun that joins (join.h)."""
    job = (ROOT / "emulator" / "src" / "job.h").read_text("ascii")
    layout = int(re.search(r"JOB_LAYOUT = (\d+)", job)[1])
    vic = (ROOT / "emulator" / "include" / "vic.h").read_text("ascii")
    version = re.search(r'VIC_VERSION "(.+)"', vic)[1].encode()
    return ASK.pack(0x6A6F6901, layout, version, card, 0, 0, 0, 0, b"")


def test_a_card_is_free_when_who_brought_its_program_has_quite_gone(serve):
    job = serve("-n", "2", "-", options=("--if-killed", "leave"))
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HANGS_UP, ask(1).hex()]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as guest:
        assert int(guest.stdout.readline()) == ASK.size
        code, _, errors = job.join(*SAY, "0", card=1)
        assert (code, "card 1 has a program" in errors) == (1, True)
        guest.stdin.close()
    until(lambda: job.join(*SAY, "0", card=1) == (0, "1 of 2\n", ""), "card 1 to be free")
    code, _, errors = job.end()
    assert (code, errors.count("the others go on")) == (0, 1)
