"""What Tab offers."""

from __future__ import annotations

import re

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from adomnia.cli.shell.completion import CatalogCompleter
from adomnia.session.curator import read_catalog


@pytest.fixture(scope="module")
def offered(example):
    completer = CatalogCompleter(read_catalog(example))
    return lambda text: {each.text for each in completer.get_completions(Document(text), CompleteEvent())}


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("sel", {"SELECT"}),
        ("SELECT COUNT(*) FROM pe", {"people", "person_id"}),
        ("SELECT COUNT(*) FROM ad", {"adults"}),
        ("SELECT sal", {"salary"}),
        ("SELECT med", {"MEDIAN"}),
        ("SELECT flo", {"FLOOR"}),
        ("SELECT people.a", {"age"}),
        ("SELECT p.a", {"age"}),
        ("SELECT 1 FROM people WHERE sex = '", {"F'", "M'", "X'"}),
        ("SELECT 1 FROM people WHERE city IN ('Oslo', 'Alt", {"Alton'"}),
        ("\\", {"d", "set", "q"}),
        ("\\fo", {"format"}),
        ("\\d pe", {"people"}),
        ("\\set ", {"epsilon", "confirm"}),
        ("\\set confirm ", {"on", "off"}),
        ("\\format j", {"json"}),
        ("\\p SELECT sal", {"salary"}),
    ],
)
def test_what_was_begun_is_completed(offered, text, some):
    assert some <= offered(text)
    start = re.search(r"\w*$", text)[0]
    assert all(each.lower().startswith(start.lower()) for each in offered(text))


@pytest.mark.parametrize(
    "text", ["SELECT ", "SELECT 1 FROM people WHERE name = '", "\\d people ", "\\set epsilon 1 ", "xyzzy"]
)
def test_where_nothing_is_known_nothing_is_offered(offered, text):
    assert offered(text) == set()


def test_columns_of_other_tables_are_not_those_of_a_table(offered):
    assert "cost" not in offered("SELECT people.co")
    assert "cost" in offered("SELECT visits.co")
