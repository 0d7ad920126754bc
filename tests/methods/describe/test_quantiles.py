from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from kit.analyses import frame
from kit.describing import DISTRIBUTIONS, EPSILON, EXACT, build, table_of

FRAME = frame({"x": (0, 100)}, {"city": ("A", "B")})
COLUMN = FRAME.numbers["x"]
VALUES = DISTRIBUTIONS["lognormal"](np.random.default_rng(1), 20_000)


def test_with_little_noise_they_are_numpys():
    table = table_of(build("quantiles", FRAME, column=COLUMN), EXACT, {"x": VALUES})
    assert table.labels == {"prob": (0.1, 0.5, 0.9)}
    assert table.estimates["estimate"].values == pytest.approx(np.quantile(VALUES, [0.1, 0.5, 0.9]), rel=0.01)


def test_groups_have_their_own():
    city = np.array(["A", "B"] * 10_000, dtype=object)
    data = {"x": np.where(city == "A", VALUES / 2, VALUES), "city": city}
    asked = build("quantiles", FRAME, column=COLUMN, by=(FRAME.factors["city"],))
    values = table_of(asked, EXACT, data).estimates["estimate"].values
    assert values[:3] == pytest.approx(values[3:] / 2, rel=0.05)


def test_it_spends_exactly_its_price():
    asked = build("quantiles", FRAME, column=COLUMN)
    assert sum(each.price.epsilon for each in asked.planned_measures(EPSILON)) == 1


@pytest.mark.parametrize("probs", [("1/2", "1/4"), ("1/2", "501/1000"), ("1/3",), ("1/1000",), ("0",), ("1",)])
def test_shares_that_cannot_be_told_are_refused(probs):
    with pytest.raises(BadArgument, match="probs"):
        build("quantiles", FRAME, column=COLUMN, probs=tuple(map(Fraction, probs)))
