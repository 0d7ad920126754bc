from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.mechanisms.registry import NUMERIC
from adomnia.pricing.bills import noise_in_words
from adomnia.privacy.events import Approximate, Concentrated
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.wire.quotes import QuoteReply, quote_of, quote_record
from kit.mechanisms import PRICES, calibrate

COUNT = "SELECT COUNT(*) AS n FROM people"
SUMS = "SELECT hospital, SUM(cost) AS s, AVG(cost) AS a FROM visits GROUP BY hospital"


@pytest.mark.parametrize(
    ("asked", "payment"),
    [
        (COUNT, {"epsilon": 0.3}),
        (COUNT, {"error": 20}),
        (SUMS, {"rho": 0.1, "simultaneous": True, "rows": 50, "confidence": 0.9}),
        (SUMS, {"rho": 0.1, "effort": "high"}),
        ("SELECT MEDIAN(salary) AS m, MAX(age) AS o FROM people", {"epsilon": 1}),
        ("SELECT SUM(salary) / SUM(age) AS q FROM people", {"epsilon": 1e-6}),
        ("SELECT name, COUNT(*) AS n FROM people GROUP BY name", {"epsilon": 1, "delta": 1e-9}),
        ("SELECT name, COUNT(*) AS n FROM people GROUP BY name", {"rho": 1, "delta": 1e-9}),
        ([COUNT, SUMS], {"epsilon": 1}),
    ],
)
def test_a_quote_arrives_as_it_left(bob, asked, payment):
    quote = bob.price(asked, **payment)
    record = json.loads(json.dumps(quote_record(quote), allow_nan=False))
    arrived = quote_of(QuoteReply.model_validate(record, strict=True))
    assert arrived == quote
    assert list(map(str, arrived.findings)) == list(map(str, quote.findings))


def prices_of(name):
    """Prices of every kind that a mechanism is bought with; where one has a delta, all have one."""
    kinds = NUMERIC[name].prices
    with_delta = [Concentrated(Fraction(1, 3), Fraction(1, 10**6))] if Approximate in kinds else None
    return [price for kind in kinds for price in (kind is Concentrated and with_delta) or PRICES[kind]]


@pytest.mark.parametrize("name", NUMERIC)
def test_the_noise_of_every_mechanism_arrives_as_it_left_and_has_words(bob, name):
    quote = bob.price(COUNT, epsilon=0.3)
    (line,) = quote.measurements
    sold = [replace(line, noise=calibrate(name, Sensitivity(l1=3), each), price=each) for each in prices_of(name)]
    assert {type(each.price) for each in sold} == set(NUMERIC[name].prices)
    record = json.loads(json.dumps(quote_record(replace(quote, measurements=tuple(sold))), allow_nan=False))
    assert list(quote_of(QuoteReply.model_validate(record, strict=True)).measurements) == sold
    assert all(NUMERIC[name].__name__ not in noise_in_words(each) for each in sold)


def test_a_distribution_without_a_name_is_a_mistake(bob):
    quote = bob.price(COUNT, epsilon=1)
    (line,) = quote.measurements
    with pytest.raises(TypeError, match="got int"):
        quote_record(replace(quote, measurements=(replace(line, noise=5),)))
    record = quote_record(quote)
    record["measurements"][0]["noise"]["mechanism"] = "cauchy"
    with pytest.raises(ValueError, match="mechanism"):
        QuoteReply.model_validate(record, strict=True)
    record["measurements"][0]["noise"]["mechanism"] = "gaussian"  # which has a variance, and no scale
    with pytest.raises(ValueError, match="must have all parts of its kind"):
        quote_of(QuoteReply.model_validate(record, strict=True))
