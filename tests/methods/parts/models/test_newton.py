"""Newton's method ends with a table whatever the noise makes of its rounds, and asks for nothing beyond its event."""

from math import isfinite

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.methods.models.logit import METHOD as LOGIT
from adomnia.methods.models.poisson import METHOD as POISSON
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from adomnia.statistics.contract import Measured
from kit.analyses import frame

BOUNDS = {
    "y": (0, 1),
    "n": (0, 20),
    "x": (-1, 1),
    "z": (0, 10),
    "w": (0, 1),
    "s": (0, 3),
    "whole": (0, 64),
    "days": (1, 30),
}
FRAME = frame(BOUNDS, {"city": ("A", "B", "C")}, whole=("y", "whole"))
LARGE = 10**24  # a million rows of the largest products
PRICES = [Pure(1), Pure(10**4), Concentrated(10**4)]

HOSTILE = {
    "nothing": lambda place, round_: 0,
    "much": lambda place, round_: LARGE,
    "far below zero": lambda place, round_: -LARGE,
    "signs that change": lambda place, round_: LARGE * (-1) ** place,
    "rounds that contradict": lambda place, round_: LARGE * (-1) ** round_,
    "only the first": lambda place, round_: LARGE * (place == 0),
    "only the last": None,
    "alternately much and little": lambda place, round_: (LARGE, 1)[place % 2],
}


def drive(analysis, price, hostile):
    """The table of made-up measurements; what is asked for stays within the event."""
    flow, events, rounds = analysis.steps(price), [], 0
    asked = next(flow)
    while True:
        events += [each.mechanism.event(each.query.sensitivity()) for each in asked]
        assert covers(analysis.event(price), Composed(events))
        rounds += 1
        try:
            asked = flow.send(tuple(made_up(each, hostile, rounds) for each in asked))
        except StopIteration as end:
            return end.value


def made_up(measure, hostile, round_):
    shape = measure.mechanism.shape(measure.query)
    size = int(np.prod(shape, dtype=int))
    values = [hostile(place, round_) if hostile else LARGE * (place == size - 1) for place in range(size)]
    return Measured(np.array(values, dtype=object).reshape(shape), measure.mechanism)


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    ("method", "formula"),
    [(LOGIT, "y ~ x + z"), (LOGIT, "y ~ poly(x, 3)"), (POISSON, "n ~ x + city"), (POISSON, "n ~ z + C(city) + w")],
    ids=lambda each: getattr(each, "name", each),
)
@pytest.mark.parametrize("further", [{}, {"weight": "s", "exposure": "days"}], ids=["plain", "weight"])
def test_whatever_is_measured_a_table_of_finite_numbers_follows(method, formula, hostile, price, further):
    given = {name: FRAME.numbers[column] for name, column in further.items()}
    built = method.build(FRAME, {"formula": formula, "inference": "population", **given})
    table = drive(built.specialize_for(price) if further else built, price, hostile)
    values, (lower, upper) = table.estimates["estimate"].values, table.estimates["estimate"].interval(0.95, 1)
    told = ~np.isnan(values)
    assert np.all(np.isfinite(values[told]))
    assert np.all((lower <= values)[told] & (values <= upper)[told])
    assert np.all(np.isinf(lower[~told]))
    for column in table.facts.values():
        assert all(value is None or isfinite(value) for value in column())


@pytest.mark.parametrize("formula", ["y ~ poly(x, 4)", "y ~ I(x^2*z^2)", "y ~ poly(x, 2):poly(z, 2)", "y ~ I(x^3*z)"])
def test_products_too_large_to_add_up_are_refused_before_data(formula):
    with pytest.raises(Refusal, match="multiplies more than 3 numbers"):
        LOGIT.build(FRAME, {"formula": formula, "inference": "population"})


@pytest.mark.parametrize("price", [Pure(1), Concentrated(1)], ids=str)
@pytest.mark.parametrize("formula", ["y ~ poly(x, 3)", "y ~ I(x*z*w)", "y ~ (x + z + w)^3", "y ~ I(x^2*z) + C(city)"])
@pytest.mark.parametrize("weight", [None, "s", "whole"])
def test_products_of_three_numbers_are_added_up(formula, price, weight):
    """With sampling weights, too: third powers were too large with them, and quotes of such questions failed."""
    named = {"weight": FRAME.numbers.get(weight)}
    assert LOGIT.build(FRAME, {"formula": formula, "inference": "population", **named}).planned_measures(price)
