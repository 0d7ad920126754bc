import re

import pytest

from kit.parts import CORE, NAMED, PARTS, SEARCHES, SLOW, TESTS, fits, part_of, parts_of_file

FILES = sorted(TESTS.rglob("test_*.py"))


def test_every_part_has_its_target_of_make_once():
    targets = re.findall(r"^PARTS +:= (.+)$", (TESTS.parent / "Makefile").read_text(), re.MULTILINE)
    assert sorted(" ".join(targets).split()) == sorted([*(f"test-{part}" for part in PARTS), "lint", "coverage"])


def test_every_file_has_one_part_and_every_part_has_files():
    parts = [parts_of_file(path) for path in FILES]
    assert all(len(each) == 1 or each == {CORE, SEARCHES} for each in parts)
    assert set().union(*parts) == set(PARTS)


@pytest.mark.parametrize("name", [*SLOW, *(name for names in NAMED.values() for name in names)])
def test_every_name_stands_for_files(name):
    assert any(fits(path, name) for path in FILES)


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("tests/a_new_folder/test_it.py", "core"),
        ("src/adomnia/noise/laplace.py", "core"),
        ("tests/contracts/test_a_new_one.py", "core"),
        ("tests/contracts/test_methods.py", "analyses"),
        ("tests/contracts/engines/test_gates.py", "engines"),
        ("tests/session/test_own.py", "core"),
        ("tests/session/test_a_new_one.py", "surfaces"),
        ("tests/test_postgres.py", "engines"),
        ("tests/test_a_new_one.py", "surfaces"),
        ("tests/servers/test_it.py", "core"),
    ],
)
def test_the_longest_name_decides_and_what_is_not_named_is_of_the_core(path, part):
    path = TESTS.parent / path
    assert part_of(path, is_search=False) == part
    assert part_of(path, is_search=True) == (SEARCHES if part == CORE else part)
