from __future__ import annotations

import pytest

from adomnia.explaining.glossary import NOTES


@pytest.mark.parametrize("word", NOTES)
def test_a_note_is_at_most_forty_words_and_whole_sentences(word):
    note = NOTES[word]
    assert len(note.split()) <= 40
    assert note[0].isupper()
    assert note.endswith(".")
