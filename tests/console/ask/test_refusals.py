"""A refusal as the page shows it."""

from __future__ import annotations

from adomnia.console.ask.form import AskForm
from adomnia.console.ask.pricing import build_price
from console.ask.visiting import visiting


def refused(opened, sql):
    with visiting(opened) as visit:
        return build_price(visit, AskForm(sql)).refusal


def test_the_place_is_shown_with_the_text_around(shared_house):
    place = refused(shared_house, "SELECT COUNT(*),\n  AVG(salery) AS s\nFROM people").place
    assert (place.line, place.column) == (2, 7)
    assert (place.before, place.wrong, place.after) == ("  AVG(", "salery", ") AS s")


def test_the_span_counts_as_browsers_do(shared_house):
    place = refused(shared_house, "SELECT COUNT(*) /* \U0001f600 */ FROM poeple").place
    assert place.end - place.start == 6
    assert place.start == len("SELECT COUNT(*) /* .. */ FROM ")


def test_a_long_line_is_cut(shared_house):
    place = refused(shared_house, f"SELECT {'1 + ' * 90} AVG(salery) FROM people").place
    assert place.before.startswith("…")
    assert len(place.before) < 70


def test_it_speaks_the_words_of_the_page(shared_house):
    told = refused(shared_house, "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis")
    assert told.fix.endswith("add delta 1e-9")
    assert told.is_name
    assert told.way_out.startswith("To fix it, group by a declared category")
    assert refused(shared_house, "SELECT COUNT(*) FROM poeple").way_out == (
        "Did you mean people? There are people, visits, cities."
    )
    assert refused(shared_house, "SELECT COUNT(*) FROM xyz").way_out == "There are people, visits, cities."
