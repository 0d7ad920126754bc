"""Answers for the eye."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from adomnia.ledger import Receipt
from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Left
from adomnia.session import display
from adomnia.session.answer import Answer
from adomnia.statistics.contract import Estimate

PAID = Pure(0.5)


def made_up(values, half_width=1.0, keys=None, event=PAID, whole=False, **changes):
    numbers = np.array(values, dtype=np.float64)
    estimate = Estimate(numbers, lambda *_: (numbers - half_width, numbers + half_width), "made up", whole)
    estimate = replace(estimate, about=changes.pop("about", "data"))
    columns = (KeyColumn("key", tuple(keys or map(str, range(len(values))))), ValueColumn("value", estimate))
    receipt = Receipt("alice", "id", b"plan", event, "hash")
    left = Left(Fraction(3, 4), Fraction(1, 8), Fraction(0))
    return replace(Answer(columns, np.arange(len(values)), 0.95, receipt, False, left), **changes)


def test_the_text_of_an_answer():
    assert repr(made_up([1234.5678, -7.0], half_width=0.5, keys=["Oslo", "Bergen"])).splitlines() == [
        "key        value          95% interval",
        "------  --------  --------------------",
        "Oslo    1,234.57  1,234.06 to 1,235.07",
        "Bergen     -7.00        -7.50 to -6.50",
        "",
        "Paid: epsilon 0.5. Left: epsilon 0.75.",
        "The interval holds the exact answer (of capped, clamped and rounded rows) with the stated confidence.",
    ]


def test_an_answer_about_a_population_says_so_below():
    *_, last = repr(made_up([1.0], about="population")).splitlines()
    rows = "of capped, clamped and rounded rows"
    assert last == f"The interval holds the population's value ({rows}) with the stated confidence."


@pytest.mark.parametrize(
    ("half_width", "shown"),
    [
        *((1000, "1,200"), (10, "1,235"), (1, "1,234.6"), (0.02, "1,234.568")),
        *((0, "1,234.5678"), (np.inf, "uninformative")),
    ],
)
def test_a_number_is_as_long_as_its_interval_deserves(half_width, shown):
    _, rows = display.format_table(made_up([1234.5678], half_width))
    assert rows[0][1] == shown


def test_whole_numbers_have_no_decimals():
    _, rows = display.format_table(made_up([12.0], 0.5, whole=True))
    assert rows[0][1] == "12"


def test_a_confidence_is_shown_as_it_was_asked_for():
    headings, _ = display.format_table(made_up([1.0], confidence=0.999))
    assert headings[-1] == "99.9% interval"


def test_a_replayed_answer_says_that_it_was_free():
    assert "Replayed, free: it was paid before: epsilon 0.5." in repr(made_up([1.0], replayed=True))


def test_a_cost_in_rho_is_shown_in_rho_and_so_is_what_is_left():
    spent = made_up([1.0], event=Concentrated(0.25), left=Left(Fraction(0), Fraction(1, 8), Fraction(0)))
    assert display.format_footer(spent)[0] == "Paid: rho 0.25. Left: rho 0.125, or one question at epsilon 0.5."
    spent = made_up([1.0], event=Approximate(0.25, 1e-9), left=Left(Fraction(0), Fraction(0), Fraction(0)))
    assert display.format_footer(spent)[0] == "Paid: epsilon 0.25 and delta 1e-9. Left: nothing."


def test_what_was_free_says_so():
    free = replace(made_up([]), typed_columns=(KeyColumn("city", ("Oslo", "Bergen")),), rows=np.arange(2), receipt=None)
    assert repr(free).splitlines() == ["city", "------", "Oslo", "Bergen", "", "Public: read exactly, at no price."]
    assert "<p>Public: read exactly, at no price.</p>" in free._repr_html_()
    assert "interval" not in free._repr_html_()


def test_public_values_are_shown_as_they_are():
    values = (1234567, 0.5, True, None, date(2020, 1, 31))
    shown = replace(made_up([]), typed_columns=(KeyColumn("x", values),), rows=np.arange(5), receipt=None)
    assert [row[0] for row in display.format_table(shown)[1]] == ["1234567", "0.5", "true", "NULL", "2020-01-31"]


def test_a_long_answer_is_cut_in_text_and_says_so():
    text = repr(made_up(range(100)))
    assert "... and 40 more rows" in text
    assert len(text.splitlines()) == 2 + 60 + 1 + 3


def test_an_answer_without_rows_has_its_headings():
    assert repr(made_up([])).startswith("key")


def test_html_escapes_everything_that_could_be_markup():
    html = made_up([1.0], keys=["<img src=x onerror=alert(1)> & \"'"])._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; &quot;&#x27;" in html
    assert html.count("<tr>") == 2


def test_html_holds_what_the_text_does():
    html = made_up([1234.5], 0.5)._repr_html_()
    assert ">95% interval</th>" in html
    assert ">1,234.00 to 1,235.00</td>" in html
    assert "<p>Paid: epsilon 0.5. Left: epsilon 0.75.</p>" in html


def test_a_number_is_not_longer_than_what_is_known_of_it():
    shown = repr(made_up([1e308], 1e300)).splitlines()[2]
    assert shown.split() == ["0", "1e+308", "9.999999e+307", "to", "1.000001e+308"]
