from __future__ import annotations

from fractions import Fraction
from urllib.parse import parse_qs, urlsplit

import pytest

from adomnia.console.history.repeat_links import link_again, link_sharper
from adomnia.pricing.questions import Question


def fields(address: str) -> dict[str, str]:
    assert urlsplit(address).path == "/ask"
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


@pytest.mark.parametrize(
    ("payment", "wanted"),
    [
        ({"epsilon": Fraction(1, 4)}, {"pay": "epsilon", "amount": "0.5"}),
        ({"rho": Fraction(1, 100)}, {"pay": "rho", "amount": "0.04"}),
        ({"error": 50.0, "rows": 1000}, {"pay": "error", "amount": "25", "rows": "1000"}),
        ({}, {}),
        (
            {"epsilon": Fraction(1), "inference": "population", "effort": "high"},
            {"pay": "epsilon", "amount": "2", "inference": "population", "effort": "high"},
        ),
    ],
)
def test_a_sharper_question_is_the_same_at_a_price_that_halves_the_error(payment, wanted):
    text = "SELECT COUNT(*) AS n FROM people WHERE name = 'a&b=\"ü\"'"
    assert fields(link_sharper(Question(text, **payment))) == {"sql": text, **wanted}


def test_the_same_question_keeps_its_price():
    assert fields(link_again(Question("SELECT 1", epsilon=Fraction(1, 3))))["amount"] == "1/3"


def test_what_is_too_long_for_an_address_has_none():
    assert not link_again(Question("SELECT " + "x" * 5000, epsilon=1))
