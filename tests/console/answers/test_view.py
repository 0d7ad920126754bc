from __future__ import annotations

from dataclasses import replace

from adomnia.console.answers.reading import AnswerReading
from adomnia.console.answers.view import build_answer_view
from adomnia.console.rendering import Page, render
from adomnia.explaining.tree import Node
from adomnia.messages.texts import Note
from adomnia.session.explanation import build_explanation
from kit.answers import LEFT, key, make_answer, measured

EVIL = "</td><script>alert(1)</script>"
ROWS = make_answer(key("k", "a", "b"), measured("n", (1, 2, 3), (4, 5, 6)))


def page_of(view):
    return render(Page("answer_view.html", {"view": view})).decode()


def test_how_an_answer_came_to_be_is_told_in_a_tag():
    tags = [
        build_answer_view(ROWS, "").tag.text,
        build_answer_view(ROWS, "", reading=AnswerReading(again=True)).tag.text,
        build_answer_view(ROWS, "", made_up=True).tag.text,
        build_answer_view(make_answer(key("k", 1), receipt=None), "").tag.text,
    ]
    assert tags == ["paid ε 0.25", "seen again, free", "made up", "free, exact"]


def test_an_answer_from_a_release_is_free_but_neither_exact_nor_about_nobody():
    free = replace(
        make_answer(key("k", "a", "b"), measured("n", (1, 2, 3), (4, 5, 6)), receipt=None), notes=(Note("From it."),)
    )
    view = build_answer_view(free, "")
    assert view.tag.text == "free, from a release"
    page = page_of(view)
    assert "About nobody" not in page
    assert "From it." in page
    assert "/answers/" not in page


def test_what_is_made_up_or_free_leads_to_no_receipt_file_or_figure():
    for view in (
        build_answer_view(ROWS, "", made_up=True),
        build_answer_view(make_answer(key("k", 1), receipt=None), ""),
    ):
        assert (view.receipt, view.chart, view.exports, view.pages) == (None, None, (), ())
        assert "/answers/" not in page_of(view)
    assert "Made-up rows" in page_of(build_answer_view(ROWS, "", made_up=True))


def test_intervals_that_hold_all_at_once_are_wider_in_text_too():
    alone, simultaneous = (
        build_answer_view(ROWS, "", reading=AnswerReading(simultaneous=each)) for each in (False, True)
    )
    assert [view.table.rows[0][1].shown.interval for view in (alone, simultaneous)] == ["1.0 to 3.0", "0.0 to 4.0"]
    assert alone.intervals.switch == "/answers/r-1?simultaneous=1"
    assert simultaneous.intervals.switch == "/answers/r-1"
    assert "for all 2 of a column at once" in page_of(alone)


def test_other_confidences_are_links_and_the_present_one_is_marked():
    view = build_answer_view(make_answer(measured("n", (1, 2, 3)), confidence=0.8), "")
    assert [(link.label, link.current) for link in view.intervals.others] == [
        *(("80%", True), ("90%", False), ("95%", False), ("99%", False)),
    ]


def test_more_rows_are_a_link_away():
    many = make_answer(key("k", *range(250)), measured("n", *[(1, 2, 3)] * 250))
    pages = [
        [link.address for link in build_answer_view(many, "", reading=AnswerReading(start=each)).pages]
        for each in (1, 101, 201)
    ]
    assert pages == [
        ["/answers/r-1?from=101#rows"],
        ["/answers/r-1#rows", "/answers/r-1?from=201#rows"],
        ["/answers/r-1?from=101#rows"],
    ]
    assert not build_answer_view(many, "").chart_first


def test_only_declared_groups_are_said_to_come_back_empty_or_not():
    assert build_answer_view(ROWS, "").all_groups
    assert not build_answer_view(make_answer(*ROWS.typed_columns, figure={"kind": "bars"}), "").all_groups
    assert not build_answer_view(make_answer(measured("n", (1, 2, 3))), "").all_groups


def test_an_explanation_is_shown_as_a_tree():
    view = build_answer_view(build_explanation(Node("1 measurement", (Node(EVIL),)), 0.95, LEFT), "EXPLAIN ...")
    shown = page_of(view)
    assert "<details open><summary>1 measurement</summary>" in shown
    assert "<script>" not in shown


def test_nothing_foreign_is_markup():
    answer = make_answer(key(EVIL, EVIL), measured(f"{EVIL}2", (1, 2, 3)), notes=(Note(EVIL),))
    shown = page_of(build_answer_view(answer, EVIL))
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)" in shown


def test_no_length_is_a_style():
    shown = page_of(build_answer_view(ROWS, ""))
    assert "style=" not in shown
    assert 'class="iv-l"' in shown
