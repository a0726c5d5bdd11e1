"""Can somebody who has the wheel, and nothing of this checkout, build programs and run them?"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from emulator_build import PROGRAMS, ROOT

import dvsim

HEADERS = sorted(path.name for path in (ROOT / "emulator" / "include").glob("*.h"))
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(outside C CXX)
find_package(vic 0.1 REQUIRED)
add_executable(outside outside.c)
target_link_libraries(outside PRIVATE vic::vic)
file(WRITE "${CMAKE_BINARY_DIR}/launcher" "${VIC_RUN}")
"""


def run(*command, cwd=None, env=None):
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, **(env or {})},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A clean environment with the wheel; dvsim's dependencies are those of this one."""
    place = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", "--without-pip", place)
    python = place / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--python",
        python,
        "install",
        "--no-compile",
        "--no-deps",
        wheel,
    )
    site = Path(run(python, "-c", "import site; print(site.getsitepackages()[0])").strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(python, "-c", "import dvsim; print(dvsim.__file__)", cwd=place)
    assert where.startswith(str(place))
    return place / "bin" / "dvsim"


@pytest.fixture
def folder(tmp_path):
    shutil.copy(PROGRAMS / "outside.c", tmp_path)
    return tmp_path


def sums(program, *launcher):
    """Run it on three cards, and alone."""
    lines = run(*launcher, "-n", "3", "--", program).splitlines()
    assert sorted(lines) == [f"card {i} of 3: 6" for i in range(3)]
    assert run(program) == "card 0 of 1: 1\n"


def test_by_flags(installed, folder):
    flags = run(installed, "emulate", "--cflags", "--libs").split()
    run("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "outside.c", "-o", "outside",
        *flags, cwd=folder)  # fmt: skip
    sums(folder / "outside", installed, "emulate")


def test_by_flags_in_cpp(installed, folder):
    flags = run(installed, "emulate", "--cflags", "--libs").split()
    (folder / "outside.cpp").write_bytes((folder / "outside.c").read_bytes())
    run("c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "outside.cpp", "-o",
        "outside", *flags, cwd=folder)  # fmt: skip
    sums(folder / "outside", installed, "emulate")


def test_by_pkg_config(installed, folder):
    prefix = run(installed, "emulate", "--prefix-dir").strip()
    env = {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    flags = run("pkg-config", "--cflags", "--libs", "vic", env=env).split()
    run("cc", "outside.c", "-o", "outside", *flags, cwd=folder)
    vicrun = run("pkg-config", "--variable=vicrun", "vic", env=env).strip()
    sums(folder / "outside", vicrun)  # no Python takes part
    assert run("pkg-config", "--modversion", "vic", env=env).strip() == dvsim.__version__


def test_vicload_finds_its_library(installed):
    prefix = run(installed, "emulate", "--prefix-dir").strip()
    assert run(f"{prefix}/bin/vicload", "--version") == f"vicload {dvsim.__version__}\n"
    assert (Path(prefix) / "share" / "bridge" / "main.c").exists()  # compiled where it is wanted


def test_by_cmake(installed, folder):
    prefix = run(installed, "emulate", "--prefix-dir").strip()
    (folder / "CMakeLists.txt").write_text(CMAKE)
    run("cmake", "-S", ".", "-B", "made", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=folder)
    run("cmake", "--build", "made", cwd=folder)
    sums(folder / "made" / "outside", (folder / "made" / "launcher").read_text())


def test_cmake_refuses_another_version(installed, folder):
    prefix = run(installed, "emulate", "--prefix-dir").strip()
    (folder / "CMakeLists.txt").write_text(CMAKE.replace("vic 0.1", "vic 0.2"))
    done = subprocess.run(
        ["cmake", "-S", ".", "-B", "made", f"-DCMAKE_PREFIX_PATH={prefix}"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0 and "0.2" in done.stderr


def test_the_library_exports_what_the_header_declares_and_nothing_else(emulator):
    table = run("nm", "-D", "--defined-only", emulator.prefix / "lib" / "libvic.so.0")
    names = [line.split()[-1].split("@")[0] for line in table.splitlines()]
    exported = sorted(name for name in names if name.startswith("vic_"))
    assert sorted(set(names) - set(exported)) == ["VIC_0.1"]
    headers = [path.read_text("utf-8") for path in (ROOT / "emulator" / "include").glob("*.h")]
    declared = re.findall(r"^VIC_API [\w *]*?(\w+)\(", "".join(headers), flags=re.MULTILINE)
    pinned = re.findall(
        r"^    (vic_\w+);", (ROOT / "emulator" / "vic.map").read_text(), re.MULTILINE
    )
    assert exported == sorted(declared) == sorted(pinned)


def test_the_library_says_its_soname(emulator):
    table = run("readelf", "-d", emulator.prefix / "lib" / "libvic.so.0")
    assert "Library soname: [libvic.so.0]" in table


def test_the_versions_agree():
    header = (ROOT / "emulator" / "include" / "vic.h").read_text("utf-8")
    assert f'#define VIC_VERSION "{dvsim.__version__}"' in header


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("compiler", [("cc", "c", "-std=c11"), ("c++", "c++", "-std=c++17")])
def test_the_header_stands_alone(compiler, header, tmp_path):
    command, language, standard = compiler
    unit = tmp_path / "unit"
    unit.write_text(f'#include "{header}"\nint unit_is_not_empty;\n')
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow")
    include = ROOT / "emulator" / "include"
    run(
        command,
        "-x",
        language,
        standard,
        *warnings,
        f"-I{include}",
        "-c",
        unit,
        "-o",
        tmp_path / "o",
    )
