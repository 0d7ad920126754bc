"""Notes are values: programs know them by a code and facts, people by a sentence that follows from both."""

from __future__ import annotations

import copy
import pickle

import pytest

from adomnia.messages.notes import TEMPLATES, Note, NoteTemplate, define_note, note_of, note_record, show_notes
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
    return NoteTemplate("free", "{rows:,} row{rows:s} of {names} within {error:.2g}: {from_release=True} has some.")


def test_a_note_is_its_sentence_with_facts_in_their_formats(free):
    note = free(rows=1_200, names=["a", "b"], error=0.123)
    assert note == "1,200 rows of a, b within 0.12: from_release=True has some."
    assert (note.code, note.facts) == ("free", {"rows": 1_200, "names": ["a", "b"], "error": 0.123})
    assert free(rows=1, names=["a"], error=1) == "1 row of a within 1: from_release=True has some."


def test_a_fact_that_is_not_given_is_no_note(free):
    with pytest.raises(KeyError):
        free(rows=1)


def test_a_code_is_one_templates_alone():
    assert define_note("alone", "It is so.") == define_note("alone", "It is so.") == "It is so."
    with pytest.raises(ValueError, match="'alone'"):
        define_note("alone", "It is not so.")


def test_a_note_is_shown_in_the_words_of_a_surface(free):
    (shown,) = show_notes([free(rows=2, names=["a"], error=0.5)], Surface.COMMAND_LINE)
    assert shown == "2 rows of a within 0.5: --from-release has some."
    assert (shown.code, shown.facts["rows"]) == ("free", 2)


def test_a_note_within_a_note_names_what_it_named(free):
    outer = NoteTemplate("outer", "Either {one}")(one=free(rows=2, names=["a"], error=0.5))
    assert show_notes([outer], Surface.COMMAND_LINE) == ("Either 2 rows of a within 0.5: --from-release has some.",)


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
    assert (note, note.code) == ("1 row of a within 2: rows= has some.", "free")
