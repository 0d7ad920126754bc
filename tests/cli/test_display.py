"""The page says what happened, and the record says the same."""

from __future__ import annotations

import json
from fractions import Fraction
from io import StringIO

import pytest
from rich.console import Console

from adomnia.cli import display
from adomnia.cli.demonstration import demonstrate, price_of
from adomnia.privacy.amounts import show_down, show_up

PRICES = ["0.02", "0.3", "0.5", "2"]


def shown_page(shown) -> str:
    console = Console(width=display.WIDTH, markup=False, highlight=False, color_system=None, file=StringIO())
    for part in display.page(shown):
        console.print(part)
    return console.file.getvalue()


@pytest.fixture(params=PRICES)
def shown(request, seeded_bits):
    return demonstrate(price_of(request.param), seeded_bits)


def test_the_page_says_price_answer_interval_truth_and_what_is_left(shown):
    page = shown_page(shown)
    first = shown.answers[0]
    low, high = display.interval(first, shown.half_width)
    for words in (
        f"epsilon {show_up(shown.price.epsilon)}, out of a budget of 2",
        f"an error of at most {shown.half_width}, 95% of the time",
        f"{first.noisy}   95% interval {low} to {high}",
        f"{first.exact}, so the noise was {first.noisy - first.exact:+}",
        f"epsilon {show_down(first.epsilon_left)}",
    ):
        assert words in page


def test_the_page_ends_with_the_refusal_and_what_the_prices_mean(shown):
    page = " ".join(shown_page(shown).replace("│", " ").split())
    assert str(shown.refusal) in page
    assert page.index("refused") < page.index("Refused") < page.index("What these prices mean")


def test_the_page_shows_no_more_rows_than_fit(shown):
    rows = [line for line in shown_page(shown).splitlines() if line.startswith(" People with diabetes")]
    assert len(rows) == min(len(shown.answers), display.SHOWN_ROWS) + 1


def test_a_long_middle_is_counted(seeded_bits):
    assert "... 94 more ..." in shown_page(demonstrate(price_of("0.02"), seeded_bits))


@pytest.mark.parametrize(("price", "after"), [("0.02", "1.02"), ("0.5", "1.64"), ("1", "2.67"), ("2", "6.95")])
def test_the_meaning_of_one_answer_is_that_of_its_price(price, after, seeded_bits):
    page = shown_page(demonstrate(price_of(price), seeded_bits))
    assert f"A guess of 1 in 100 becomes at most {after} in 100." in page


def test_the_bars_are_highest_at_zero_and_symmetric(shown):
    *rows, axis = display.law(shown).plain.split("\n")
    for row in rows:
        bars = row.strip()
        assert bars == bars[::-1]
    assert f"95%: ±{shown.half_width}" in axis
    assert max(len(row) for row in rows) <= display.PLOT_WIDTH


def test_an_interval_of_a_count_is_never_negative(seeded_bits):
    shown = demonstrate(price_of("0.02"), seeded_bits)
    intervals = [display.interval(answer, shown.half_width) for answer in shown.answers]
    assert all(0 <= low <= high for low, high in intervals)


def test_the_record_survives_json_and_is_exact(shown, capsys):
    display.print_json(shown)
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads(json.dumps(display.as_record(shown)))
    assert Fraction(record["mechanism"]["scale"]) == shown.noise.scale
    assert [answer["noisy"] for answer in record["answers"]] == [answer.noisy for answer in shown.answers]
    assert record["refused"] == {"question": shown.refused, "reason": str(shown.refusal)}


def test_the_printed_page_is_the_page(shown, capsys):
    display.print_table(shown)
    assert capsys.readouterr().out.split() == shown_page(shown).split()
