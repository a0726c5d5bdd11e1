"""Is the wheel complete: one abi3 wheel with the core, the cards, the scenarios and the page?"""

import os
import re
import subprocess
import sys
import zipfile

SYSTEM = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libvic.so.0"}


def test_one_wheel_serves_every_python_from_3_11(wheel):
    assert "-cp311-abi3-linux" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    extensions = [name for name in names if name.endswith(".so") and "_emulator" not in name]
    assert extensions == ["dvsim/core/_core.abi3.so"]


def test_cards_scenarios_and_page_are_inside(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "dvsim/_data/cards/data-vortex-8.toml",
        "dvsim/_data/scenarios/h3/dv-8.toml",
        "dvsim/_data/scenarios/reference/h3_message_rates.csv",
        "dvsim/_data/scenarios/h3/claims.csv",
        "dvsim/_data/scenarios/h3/claims.py",
        "dvsim/view/page.html.jinja",
        "dvsim/view/style.css",
        "dvsim/py.typed",
    ):
        assert name in names
    assert not any("__pycache__" in name for name in names)


def test_the_installed_package_runs_away_from_the_checkout(wheel, tmp_path):
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "dvsim", "run", "h3/fdr-8", "--scale", "0.001"]
    done = subprocess.run(
        [*command, "--replications", "1", "--out", str(tmp_path / "runs")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "h3/fdr-8" in done.stdout


def test_the_programs_of_the_wheel_need_the_c_library_only(wheel, tmp_path):
    """A bridge linked to this system's librabbitmq would be one for this system."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    programs = {
        path.relative_to(tmp_path / "dvsim").as_posix(): path
        for path in tmp_path.rglob("*")
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"
    }
    assert sorted(programs) == [
        "_emulator/bin/vicload", "_emulator/bin/vicrun", "_emulator/lib/libvic-threads.so",
        "_emulator/lib/libvic.so.0", "core/_core.abi3.so",
    ]  # fmt: skip
    for name, path in programs.items():
        table = subprocess.run(
            ["readelf", "-d", path], capture_output=True, text=True, check=True
        ).stdout
        needed = set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.+?)\]", table))
        assert needed, name
        assert needed <= SYSTEM, name


def test_the_distribution_has_a_name_of_its_own(wheel):
    assert wheel.name.startswith("vortexsim-")


def test_another_dvsim_in_the_same_folder_is_said_at_the_start(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    (tmp_path / "dvsim-1.37.0.dist-info").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "dvsim", "--version"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"another package, dvsim 1.37.0, is installed in '{tmp_path}' too" in done.stderr
    assert "pip install --force-reinstall vortexsim" in done.stderr
