"""Changes to the text of a question."""

from __future__ import annotations

from adomnia.console.ask.edits import (
    Diff,
    Edit,
    TextSpan,
    apply_edits,
    find_names,
    find_span,
    find_words,
    show_edits,
)

TEXT = "SELECT p.salery\nFROM people p WHERE city = 'salery'"


def test_the_place_of_a_refusal_is_the_word_that_it_repeats():
    assert find_span(TEXT, (1, 8), "salery") == TextSpan(9, 15)
    assert TEXT[slice(*vars(find_span(TEXT, (2, 6), "poeple")).values())] == "people"


def test_a_place_beyond_the_text_is_its_end():
    assert find_span("ab", (9, 9), "x") == TextSpan(1, 2)
    assert find_span("", (1, 1), "x") == TextSpan(0, 0)


def test_names_in_quotes_and_in_calls_are_not_words():
    assert find_words("SELECT a, AVG(a), 'a' FROM t GROUP BY a", "a") == [TextSpan(7, 8), TextSpan(38, 39)]


def test_edits_are_applied_and_shown_with_what_is_around():
    text = "SELECT diagnosis, COUNT(*) AS visits, AVG(cost) AS cost FROM visits WHERE 1 = 1 GROUP BY diagnosis"
    edits = [Edit(span.start, span.end, "hospital") for span in find_words(text, "diagnosis")]
    assert apply_edits(text, edits) == text.replace("diagnosis", "hospital")
    shown = show_edits(text, edits)
    assert [each for each in shown if each.kind] == [Diff("del", "diagnosis"), Diff("ins", "hospital")] * 2
    assert shown[0] == Diff("", "SELECT ")
    assert len("".join(each.text for each in shown)) < len(text) + 20


def test_a_name_is_found_everywhere_but_in_texts():
    text = "SELECT citty, AVG(Citty) FROM p WHERE p.citty = 'citty' AND cittys > 1 GROUP BY citty"
    assert [text[span.start : span.end] for span in find_names(text, "citty")] == ["citty", "Citty", "citty", "citty"]
