"""Does the emulator compile without a warning in each way in which the tests run it?

These are the first tests: what they make, the others run.
"""

import builds
import pytest


@pytest.mark.parametrize("part", builds.build.parts())
def test_a_part_for_addresses_and_undefined_behaviour(part):
    objects = builds.part_with_sanitizers(part) / part
    assert len(list(objects.glob("*.o"))) >= 5


def test_all_for_addresses_and_undefined_behaviour():
    programs = {path.name for path in (builds.built_with_sanitizers() / "prefix" / "bin").iterdir()}
    assert {"vicrun", "vicload"} <= programs


def test_the_library_for_races_of_threads():
    objects = builds.threaded_objects()
    assert {path.name for path in objects.iterdir()} == {"libvic", "rest"}
