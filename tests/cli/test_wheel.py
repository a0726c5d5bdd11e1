"""Is the wheel complete: one abi3 wheel with the core, the cards, the scenarios and the page?"""

import os
import subprocess
import sys
import zipfile


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
        "dvsim/report/page.html.jinja",
        "dvsim/report/style.css",
        "dvsim/py.typed",
    ):
        assert name in names


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
