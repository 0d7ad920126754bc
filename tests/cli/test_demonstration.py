"""The demonstration pays before it counts, asks until it is refused, and shows the truth of nobody."""

from __future__ import annotations

import json
from fractions import Fraction
from io import StringIO
from itertools import islice

import numpy as np
import pytest
from rich.console import Console

from adomnia.cli import demonstration
from adomnia.cli.demonstration import BUDGET, AgeQuestion, Town, ask_by_age, demonstrate, price_of
from adomnia.errors import Refusal
from adomnia.privacy.amounts import show_down, show_up
from adomnia.privacy.events import Pure
from kit.bits import SeededBits

PRICES = ["0.02", "0.3", "0.5", "1", "2"]
PRICES_OF_DISPLAY = ["0.02", "0.3", "0.5", "2"]


def test_the_town_is_the_same_for_everyone():
    town = Town()
    assert (town.ages.min(), town.ages.max()) == (0, 96)
    assert town.exact_diabetics() == 834
    assert [town.exact_diabetics(age) for age in (8, 50, 96, 97)] == [834, 617, 19, 0]


def test_one_person_moves_every_count_by_at_most_one():
    larger, smaller = Town(1_000), Town(999)
    for age in range(101):
        assert larger.exact_diabetics(age) - smaller.exact_diabetics(age) in {0, 1}


@pytest.mark.parametrize("price", PRICES)
def test_it_answers_as_often_as_the_budget_pays_for(price, seeded_bits):
    shown = demonstrate(price_of(price), seeded_bits)
    assert len(shown.answers) == int(BUDGET.epsilon / Fraction(price))
    assert [answer.epsilon_left for answer in shown.answers] == [
        BUDGET.epsilon - count * Fraction(price) for count in range(1, len(shown.answers) + 1)
    ]


@pytest.mark.parametrize("price", PRICES)
def test_the_refused_question_is_the_next_one(price, seeded_bits):
    shown = demonstrate(price_of(price), seeded_bits)
    asked = [str(question) for question in islice(ask_by_age(), len(shown.answers) + 1)]
    assert [*(answer.question for answer in shown.answers), shown.refused] == asked


def test_no_question_is_asked_twice():
    asked = [str(question) for question in ask_by_age()]
    assert len(asked) == len(set(asked)) == 101


@pytest.mark.parametrize(("price", "fits"), [("0.02", True), ("0.1", False)])
def test_the_answer_is_the_truth_plus_noise_of_the_stated_scale(price, fits, seeded_bits):
    shown = demonstrate(price_of(price), seeded_bits)
    errors = np.array([answer.noisy - answer.exact for answer in shown.answers])
    assert shown.noise.scale == 1 / Fraction(price)
    # The mean of 100 absolute errors of scale 50 leaves [25, 100] with probability below 1e-6 (Chernoff for Gamma).
    assert bool(25 < np.abs(errors).mean() < 100) is fits


def test_nobody_is_counted_before_it_is_paid_for(monkeypatch, seeded_bits):
    counted = []
    monkeypatch.setattr(Town, "exact_diabetics", lambda town, at_least: counted.append(at_least) or 0)
    shown = demonstrate(price_of("1"), seeded_bits)
    assert len(counted) == len(shown.answers) == 2


def test_different_bits_give_different_noise():
    first, second = (demonstrate(price_of("0.02"), SeededBits(name)).answers for name in "ab")
    assert [answer.noisy for answer in first] != [answer.noisy for answer in second]
    assert [answer.exact for answer in first] == [answer.exact for answer in second]


def test_running_out_of_questions_is_a_mistake_of_ours(monkeypatch, seeded_bits):
    monkeypatch.setattr(demonstration, "ask_by_age", lambda: iter([AgeQuestion()]))
    with pytest.raises(AssertionError, match="more questions"):
        demonstrate(price_of("1"), seeded_bits)


@pytest.mark.parametrize(
    ("text", "epsilon"), [("0.02", Fraction(1, 50)), ("2", Fraction(2)), ("1e-1", Fraction(1, 10))]
)
def test_a_price_is_read_as_the_decimal_it_is(text, epsilon):
    assert price_of(text) == Pure(epsilon)


@pytest.mark.parametrize("text", ["0.0199999999999999999999", "2.0000000000000000000001"])
def test_a_price_just_outside_is_refused(text):
    with pytest.raises(Refusal, match=r"choose a number from 0\.02 to 2"):
        price_of(text)


def shown_page(shown) -> str:
    console = Console(width=demonstration.WIDTH, markup=False, highlight=False, color_system=None, file=StringIO())
    for part in demonstration.page(shown):
        console.print(part)
    return console.file.getvalue()


@pytest.fixture(params=PRICES_OF_DISPLAY)
def shown(request, seeded_bits):
    return demonstrate(price_of(request.param), seeded_bits)


def test_the_page_says_price_answer_interval_truth_and_what_is_left(shown):
    page = shown_page(shown)
    first = shown.answers[0]
    low, high = demonstration.interval(first, shown.half_width)
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
    assert len(rows) == min(len(shown.answers), demonstration.SHOWN_ROWS) + 1


def test_a_long_middle_is_counted(seeded_bits):
    assert "... 94 more ..." in shown_page(demonstrate(price_of("0.02"), seeded_bits))


@pytest.mark.parametrize(("price", "after"), [("0.02", "1.02"), ("0.5", "1.64"), ("1", "2.67"), ("2", "6.95")])
def test_the_meaning_of_one_answer_is_that_of_its_price(price, after, seeded_bits):
    page = shown_page(demonstrate(price_of(price), seeded_bits))
    assert f"A guess of 1 in 100 becomes at most {after} in 100." in page


def test_the_bars_are_highest_at_zero_and_symmetric(shown):
    *rows, axis = demonstration.draw_noise(shown).plain.split("\n")
    for row in rows:
        bars = row.strip()
        assert bars == bars[::-1]
    assert f"95%: ±{shown.half_width}" in axis
    assert max(len(row) for row in rows) <= demonstration.PLOT_WIDTH


def test_an_interval_of_a_count_is_never_negative(seeded_bits):
    shown = demonstrate(price_of("0.02"), seeded_bits)
    intervals = [demonstration.interval(answer, shown.half_width) for answer in shown.answers]
    assert all(0 <= low <= high for low, high in intervals)


def test_the_record_survives_json_and_is_exact(shown, capsys):
    demonstration.print_json(shown)
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads(json.dumps(demonstration.as_record(shown)))
    assert Fraction(record["mechanism"]["scale"]) == shown.noise.scale
    assert [answer["noisy"] for answer in record["answers"]] == [answer.noisy for answer in shown.answers]
    assert record["refused"] == {"question": shown.refused, "reason": str(shown.refusal)}


def test_the_printed_page_is_the_page(shown, capsys):
    demonstration.print_table(shown)
    assert capsys.readouterr().out.split() == shown_page(shown).split()
