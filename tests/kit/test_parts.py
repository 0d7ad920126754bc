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
        ("tests/session/test_own_session.py", "core"),
        ("tests/session/test_a_new_one.py", "surfaces"),
        ("tests/test_postgres.py", "engines"),
        ("tests/test_a_new_one.py", "surfaces"),
        ("tests/servers/test_it.py", "core"),
    ],
)
def test_the_longest_name_decides_and_what_is_not_named_is_of_the_core(path, part):
    assert part_of(TESTS.parent / path, is_search=False) == part


@pytest.mark.parametrize("word", ["@given", "no_cover"])
def test_searches_of_the_core_are_a_part_of_their_own_where_the_file_says_that_it_has_them(tmp_path, word):
    silent, saying = tmp_path / "test_one.py", tmp_path / "test_other.py"
    silent.write_text("def test_it(): ...")
    saying.write_text(f"{word}\ndef test_it(): ...")
    assert parts_of_file(silent) == {CORE}
    assert parts_of_file(saying) == {CORE, SEARCHES}
    assert parts_of_file(TESTS / "serving" / "test_fuzz.py") == {"server"}
