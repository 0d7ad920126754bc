"""Notes are values: programs know them by a code and facts, people by a sentence that follows from both."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from adomnia.messages.notes import TEMPLATES, Note, NoteTemplate, define_note, note_of, note_record, read_note
from adomnia.messages.references import Option
from adomnia.messages.surfaces import Surface


@pytest.fixture(autouse=True)
def _forget():
    """Templates of tests are nobody else's."""
    kept = dict(TEMPLATES)
    yield
    TEMPLATES.clear()
    TEMPLATES.update(kept)


@pytest.fixture
def free() -> NoteTemplate:
    text = "{rows:,} row{rows:s} of {names} within {error:.2g}: {mock} makes some up."
    return NoteTemplate("free", text, {"mock": Option("mock", True)})


def test_a_note_is_its_sentence_with_facts_in_their_formats(free):
    note = free(rows=1_200, names=["a", "b"], error=0.123)
    assert note == "1,200 rows of a, b within 0.12: mock=True makes some up."
    assert (note.code, note.facts) == ("free", {"rows": 1_200, "names": ["a", "b"], "error": 0.123})
    assert free(rows=1, names=["a"], error=1) == "1 row of a within 1: mock=True makes some up."


def test_a_fact_that_is_not_given_is_no_note(free):
    with pytest.raises(KeyError):
        free(rows=1)


def test_a_code_is_one_templates_alone():
    assert define_note("alone", "It is so.") == define_note("alone", "It is so.") == "It is so."
    with pytest.raises(ValueError, match="'alone'"):
        define_note("alone", "It is not so.")


def test_a_note_travels_by_its_code_and_facts_whatever_words_it_was_sent_in(free):
    note = free(rows=2, names=["a"], error=0.5)
    record = json.loads(json.dumps(note_record(note, Surface.JSON)))
    assert record["says"] == '2 rows of a within 0.5: `"mock": true` makes some up.'
    found = read_note(record | {"says": "other words"})
    assert (found, found.code, found.facts, found.parts) == (note, note.code, note.facts, note.parts)


def test_a_note_of_another_version_is_its_sentence(free):
    unknown = {"code": "from_tomorrow", "says": "Tomorrow.", "facts": {"n": 1}}
    told = read_note(unknown)
    assert (told.code, told, told.facts) == tuple(unknown.values())
    for facts in ({}, {"rows": "many", "names": ["a"], "error": 1}):
        other = read_note({"code": "free", "says": "As it was.", "facts": facts})
        assert (other, other.code, other.facts) == ("As it was.", "free", facts)


def test_what_is_stored_keeps_its_words():
    stored = {"code": "words", "says": "Words of then.", "facts": {"n": 1}}
    define_note("words", "Words of now.")
    assert (note_of(stored), note_of(stored).code) == ("Words of then.", "words")
    assert (note_of("A plain text."), note_of("A plain text.").code, note_of("A plain text.").facts) == (
        "A plain text.",
        "",
        {},
    )


def test_a_number_without_an_end_is_told_as_text(free):
    assert note_record(free(rows=1, names=[], error=float("inf")))["facts"]["error"] == "inf"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda note: pickle.loads(pickle.dumps(note))])
def test_a_note_is_copied_whole(again, free):
    note = again(free(rows=1, names=[], error=2))
    assert (note.code, note.facts["error"], len(note.parts)) == ("free", 2, 3)
    assert (Note("plain").code, Note("plain").facts) == ("", {})


def test_references_are_replaced_and_the_code_is_kept(free):
    note = free(rows=1, names=["a"], error=2).replace_references(lambda _: Option("rows"))
    assert (note, note.code) == ("1 row of a within 2: rows= makes some up.", "free")
