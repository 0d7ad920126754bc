import numpy as np
import pytest

from kit.analyses import frame
from kit.describing import EPSILON, EXACT, build, table_of

FRAME = frame(levels={"city": ("A", "B", "C"), "sex": ("F", "M")})
DATA = {
    "city": np.array(["A"] * 50 + ["B"] * 30 + [None] * 20, dtype=object),
    "sex": np.array(["F", "M"] * 50, dtype=object),
}


def test_counts_and_shares_are_those_of_rows_that_hold_a_value():
    table = table_of(build("frequencies", FRAME, factor=FRAME.factors["city"]), EXACT, DATA)
    assert table.labels == {"value": ("A", "B", "C")}
    assert table.estimates["count"].values.tolist() == [50, 30, 0]
    assert table.estimates["share"].values == pytest.approx([0.625, 0.375, 0])


def test_groups_are_counted_apart():
    asked = build("frequencies", FRAME, factor=FRAME.factors["city"], by=(FRAME.factors["sex"],))
    table = table_of(asked, EXACT, DATA)
    assert table.labels["sex"] == ("F",) * 3 + ("M",) * 3
    assert table.estimates["count"].values.tolist() == [25, 15, 0, 25, 15, 0]


def test_no_rows_leave_shares_within_zero_and_one():
    empty = {name: held[:0] for name, held in DATA.items()}
    for seed in range(20):
        share = table_of(build("frequencies", FRAME, factor=FRAME.factors["city"]), EPSILON, empty, seed).estimates[
            "share"
        ]
        lower, upper = share.interval(0.95, 1)
        assert ((lower >= 0) & (lower <= share.values) & (share.values <= upper) & (upper <= 1)).all()


@pytest.mark.parametrize("inference", ["population", "data"])
def test_with_a_weight_they_are_sums_of_weights(inference):
    given = frame({"w": (0, 8)}, {"city": ("A", "B", "C")}, whole=("w",))
    random = np.random.default_rng(0)
    data = {"city": random.choice(np.array(["A", "B", "C"], dtype=object), 3000, p=[0.7, 0.25, 0.05])}
    data["w"] = random.integers(0, 9, 3000).astype(float)
    asked = build("frequencies", given, factor=given.factors["city"], weight=given.numbers["w"], inference=inference)
    table = table_of(asked, EXACT, data)
    sums = np.array([data["w"][data["city"] == city].sum() for city in "ABC"])
    assert table.estimates["count"].values == pytest.approx(sums, abs=10)
    assert table.estimates["share"].values == pytest.approx(sums / sums.sum(), abs=0.001)
    lower, upper = table.estimates["share"].interval(0.95, 1)
    errors = [
        np.sqrt((data["w"] ** 2 * ((data["city"] == city) - share) ** 2).sum()) / sums.sum()
        for city, share in zip("ABC", sums / sums.sum(), strict=True)
    ]
    if inference == "population":
        assert upper - lower == pytest.approx(2 * 1.96 * np.array(errors), rel=0.06)
    else:
        assert np.all(upper - lower < errors)
    assert "Counts are sums of weights." in table.notes
