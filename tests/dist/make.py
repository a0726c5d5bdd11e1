"""`make dist`: what is released, built, checked and tried; into dist/, all of it or nothing.

Run by the Python of an environment with the packages of tools.lock. Each line that it prints is a
check that holds; the first that does not hold ends it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from packing import ROOT, Wrong, call, make_sdist, make_wheel, repaired, wrong_in_sdist
from smoke import environment, pythons, smoke

CORE = "dvsim/core/_core.abi3.so"
LOCKS = ("tests/requirements.lock", "tests/dist/tools.lock")


def build(work: Path) -> tuple[Path, Path]:
    """Return source distribution and wheel, which come out the same in two folders."""
    made = []
    for attempt in ("first", "second"):
        sdist = make_sdist(_folder(work / attempt / "sdist"))
        wheel = make_wheel(sdist, _folder(work / attempt / "wheel"))
        made.append((sdist, repaired(wheel, _folder(work / attempt / "repaired"))))
    for one, other in zip(*made, strict=True):
        if one.read_bytes() != other.read_bytes():
            raise Wrong(f"{one.name} differs between two builds: {one}, {other}")
        print(f"{one.name}: {one.stat().st_size:,} bytes, the same in two builds")
    return made[0]


def check(sdist: Path, wheel: Path, work: Path) -> None:
    """Check contents, tag, limited API and metadata."""
    wrong = wrong_in_sdist(sdist)
    if wrong:
        raise Wrong(f"{sdist.name}: {', '.join(wrong)}")
    print("source distribution: every file that git knows of what is shipped, and no other")
    core = zipfile.ZipFile(wheel).extract(CORE, work)
    call(sys.executable, "-m", "abi3audit", "--strict", core)
    print(f"{CORE}: only what is stable since Python 3.11 (abi3audit)")
    shown = call(sys.executable, "-m", "auditwheel", "show", wheel)
    print(" ".join(shown.split("\n\n")[0].split()))
    call(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    print("metadata: good (twine check --strict)")


def try_out(sdist: Path, wheel: Path, given: list[str], work: Path) -> Path:
    """Install and use both on each Python, and return the environment of the last of them."""
    chosen, missing = pythons(given)
    for name in missing:
        print(f"NOT TRIED on {name}: not found; name one with --python")
    if not chosen:
        raise Wrong("no Python from 3.11 on was found to try it with; name one with --python")
    hashes = set()
    for number, python in enumerate(chosen):
        place = work / f"python{number}"
        programs = environment(python, place)
        version = call(programs / "python", "-c", "import platform as p; print(p.python_version())")
        for what in (sdist, wheel):
            kind = "wheel" if what is wheel else "sdist"
            hashes.add(smoke(programs, what, work / f"desk{number}-{kind}"))
            print(f"Python {version.strip()}: {kind} installed, used and removed")
    if len(hashes) != 1:
        raise Wrong("the same run has other samples on another Python")
    print("samples of the run: the same bytes everywhere")
    return place


def bill_of_materials(wheel: Path, place: Path) -> bytes:
    """Return what the wheel and all that it needs are, as CycloneDX; the same for the same ones."""
    python = place / "bin" / "python"
    call(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel)
    call(python, "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools")
    text = call(
        sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible",
        "--output-format", "JSON", python,
    )  # fmt: skip
    found = json.loads(text)
    (own,) = (one for one in found["components"] if one["name"] == "vortexsim")
    found["components"].remove(own)
    own = {key: own[key] for key in ("bom-ref", "name", "version", "licenses", "description")}
    own["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}]
    found["metadata"]["component"] = {"type": "application", **own}
    print(f"bill of materials: {len(found['components'])} components")
    return json.dumps(found, indent=2, sort_keys=True).encode() + b"\n"


def audit() -> None:
    """Ask for known weaknesses of the packages of the lock files; offline, say so."""
    for name in LOCKS:
        command = [sys.executable, "-m", "pip_audit", "--requirement", ROOT / name, "--disable-pip"]
        command += ["--require-hashes", "--progress-spinner", "off", "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            packages = json.loads(done.stdout)["dependencies"]
        except ValueError:
            reason = (done.stderr.strip().splitlines() or ["no answer"])[-1]
            print(f"{name}: NOT AUDITED: {reason}")
            continue
        asked = [one for one in packages if "skip_reason" not in one]
        weak = [f"{one['name']} {one['version']}: {v['id']}"
                for one in asked for v in one["vulns"]]  # fmt: skip
        if weak:
            raise Wrong(f"{name}: known weaknesses: {'; '.join(weak)}; newer versions: make lock")
        left = len(packages) - len(asked)
        more = f"; NOT AUDITED: {left}, which the database did not know or answer for"
        print(f"{name}: {len(asked)} packages without known weaknesses{more if left else ''}")


def keep(out: Path, files: dict[str, bytes]) -> None:
    """Replace what is in the folder by the release and its hashes."""
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    text = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name, data in {**files, "SHA256SUMS": text.encode()}.items():
        (out / name).write_bytes(data)
    print(f"\n{text}in {out}")


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def main() -> int:
    """Do all of it; 1 if something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="replaced; dist")
    parser.add_argument("--python", action="append", default=[], help="to try it with; repeatable")
    asked = parser.parse_args()
    os.environ["PKG_CONFIG"] = "false"  # no vichost: libfabric would be that of this system
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    try:
        with tempfile.TemporaryDirectory(prefix="dvsim-dist-") as place:
            work = Path(place)
            sdist, wheel = build(work)
            check(sdist, wheel, work)
            tried = try_out(sdist, wheel, asked.python, work)
            bill = bill_of_materials(wheel, tried)
            audit()
            files = {path.name: path.read_bytes() for path in (sdist, wheel)}
            keep(asked.out, {**files, f"{sdist.name.removesuffix('.tar.gz')}.cdx.json": bill})
    except Wrong as error:
        print(f"make dist: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
