"""Texts keep what they name, wherever they are put together or sent."""

from __future__ import annotations

import copy
import pickle

import pytest

from adomnia.messages.references import Button, Option, Setting
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import (
    TEMPLATES,
    Fix,
    Message,
    Note,
    NoteTemplate,
    define_note,
    note_of,
    note_record,
    show,
    show_all,
    show_notes,
    write,
)

_DELTA = Option("delta", "1e-9")


def test_a_message_is_a_text_in_pythons_words():
    told = write("add {delta} {times} times", delta=_DELTA, times=2)
    assert told == "add delta=1e-9 2 times"
    assert told.parts == ("add ", _DELTA, " 2 times")


def test_what_is_put_in_is_not_read():
    told = write("ask {sql}, or add {delta}", sql="SELECT '{delta}', 'rows=5'", delta=_DELTA)
    assert show(told, Surface.COMMAND_LINE) == "ask SELECT '{delta}', 'rows=5', or add --delta 1e-9"


def test_messages_within_messages_are_one():
    inner = Message("add ", _DELTA)
    outer = write("{inner}, or {button}", inner=inner, button=Button("leave", Option("allow_uninformative", True)))
    assert show(outer, Surface.PAGE) == "add delta 1e-9, or leave"
    assert [isinstance(each, str) for each in outer.parts] == [True, False, True, False]


def test_texts_without_references_are_the_same_everywhere():
    assert show_all(["rows=5", Message("n ", _DELTA)], Surface.JSON) == ("rows=5", 'n `"delta": 1e-9`')


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))])
def test_a_fix_keeps_what_programs_act_on(again):
    fix = again(Fix(Message("add ", _DELTA), "add_delta", delta="1e-9"))
    assert (fix, fix.parts, fix.action, fix.facts) == (
        "add delta=1e-9",
        ("add ", _DELTA),
        "add_delta",
        {"delta": "1e-9"},
    )
    assert (Fix("think").action, Fix("think").facts) == ("", {})


def test_references_are_replaced_and_the_action_is_kept():
    fix = Fix(Message("to have it, ", Setting("approximate")), "allow_delta", column="n")
    passed = fix.replace_references(lambda _: Setting("approximate", in_catalog=False))
    assert passed == "to have it, pass delta=1e-6 to adomnia.protect"
    assert (passed.action, passed.facts) == ("allow_delta", {"column": "n"})


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
