import numpy as np
import pandas as pd
import pytest

from adomnia.methods.contract import BadArgument
from adomnia.methods.describe.crosstab import ALL
from kit.analyses import frame
from kit.describing import EPSILON, EXACT, build, table_of

FRAME = frame(levels={"city": ("A", "B", "C"), "sex": ("F", "M")})
RANDOM = np.random.default_rng(1)
DATA = {
    "city": RANDOM.choice(np.array(["A", "B", "C"], dtype=object), 900, p=[0.6, 0.3, 0.1]),
    "sex": RANDOM.choice(np.array(["F", "M"], dtype=object), 900),
}
ASKED = build("crosstab", FRAME, row=FRAME.factors["city"], column=FRAME.factors["sex"])


def test_counts_margins_and_shares_are_those_of_pandas():
    table = table_of(ASKED, EXACT, DATA)
    names = {"rownames": ["row"], "colnames": ["column"], "margins": True, "margins_name": ALL}
    for column, normalize in (("count", False), ("share", "all"), ("row_share", "index"), ("column_share", "columns")):
        exact = pd.crosstab(DATA["city"], DATA["sex"], normalize=normalize, **names)
        pairs = zip(table.labels["row"], table.labels["column"], table.estimates[column].values, strict=True)
        for row, other, found in pairs:
            known = row in exact.index and other in exact.columns  # pandas leaves margins out that are 1
            assert found == pytest.approx(exact.loc[row, other] if known else 1.0)


def test_margins_add_up_and_are_less_sure_than_cells():
    table = table_of(ASKED, EPSILON, DATA)
    lower, upper = table.estimates["count"].interval(0.95, 1)
    widths = (upper - lower).reshape(4, 3)
    assert widths[0, 0] < widths[0, -1] < widths[-1, -1]
    counts = table.estimates["count"].values.reshape(4, 3)
    assert counts[-1, -1] == pytest.approx(counts[:-1, :-1].sum(), abs=4)


def test_a_factor_is_not_crossed_with_itself():
    with pytest.raises(BadArgument, match="same"):
        build("crosstab", FRAME, row=FRAME.factors["city"], column=FRAME.factors["city"])


WEIGHTED = frame({"w": (0, 20)}, {"city": ("A", "B", "C"), "sex": ("F", "M")})


def ask_weighted(inference="population"):
    factors = {"row": WEIGHTED.factors["city"], "column": WEIGHTED.factors["sex"]}
    return build("crosstab", WEIGHTED, **factors, weight=WEIGHTED.numbers["w"], inference=inference)


def draw_weighted(rows, seed):
    """People of city C are a tenth of the sample and of weight 20; the others have 1 or 2."""
    random = np.random.default_rng(seed)
    city = random.choice(np.array(["A", "B", "C"], dtype=object), rows, p=[0.5, 0.4, 0.1])
    sex = np.where(random.random(rows) < np.where(city == "C", 0.7, 0.4), "F", "M").astype(object)
    return {"city": city, "sex": sex, "w": np.where(city == "C", 20.0, random.integers(1, 3, rows))}


@pytest.mark.parametrize("inference", ["population", "data"])
def test_with_weights_counts_and_shares_are_weighted(inference):
    data = draw_weighted(900, 0)
    table = table_of(ask_weighted(inference), EXACT, data)
    names = {"rownames": ["row"], "colnames": ["column"], "margins": True, "margins_name": ALL}
    held = {"values": data["w"], "aggfunc": "sum"}
    exact = pd.crosstab(data["city"], data["sex"], **held, **names)
    shares = pd.crosstab(data["city"], data["sex"], **held, normalize="all", **names)
    pairs = zip(table.labels["row"], table.labels["column"], strict=True)
    for place, (row, column) in enumerate(pairs):
        assert table.estimates["count"].values[place] == pytest.approx(exact.loc[row, column], rel=0.02)
        assert table.estimates["share"].values[place] == pytest.approx(shares.loc[row, column], rel=0.02)
        assert table.estimates["row_share"].values[place] == pytest.approx(
            exact.loc[row, column] / exact.loc[row, ALL], rel=0.02
        )
    assert any("sums of weights" in note for note in table.notes)


def test_the_errors_of_weighted_shares_are_those_of_a_ratio_of_sampling_weights():
    data = draw_weighted(4000, 1)
    table = table_of(ask_weighted(), EXACT, data)
    lower, upper = table.estimates["share"].interval(0.95, 1)
    for place, (row, column) in enumerate(zip(table.labels["row"], table.labels["column"], strict=True)):
        inside = (data["city"] == row) & (data["sex"] == column)
        if inside.any():
            share = data["w"][inside].sum() / data["w"].sum()
            error = np.sqrt((data["w"] ** 2 * (inside - share) ** 2).sum()) / data["w"].sum()
            assert upper[place] - lower[place] == pytest.approx(2 * 1.96 * error, rel=0.06)


def test_intervals_of_weighted_shares_cover_and_those_that_count_rows_do_not():
    """Of 6 cells in 60 samples: below 0.89 of 0.95 in 1e-6 of seeds; these are fixed."""
    weights = np.array([0.5 * 1.5, 0.4 * 1.5, 0.1 * 20])
    sexes = np.array([[0.4, 0.6], [0.4, 0.6], [0.7, 0.3]])
    truth = (weights[:, None] * sexes / weights.sum()).ravel()
    inner = np.array([0, 1, 3, 4, 6, 7])
    covered = blind = 0
    for seed in range(60):
        data = draw_weighted(1500, seed)
        lower, upper = (
            each[inner] for each in table_of(ask_weighted(), EPSILON, data, seed).estimates["share"].interval(0.95, 1)
        )
        covered += int(((lower <= truth) & (truth <= upper)).sum())
        assert np.all(upper - lower < 0.2)
        middle = (lower + upper) / 2
        half = 1.96 * np.sqrt(middle * (1 - middle) / 1500)
        blind += int((np.abs(middle - truth) <= half).sum())
    assert 0.89 < covered / 360 < 0.999
    assert blind / 360 < 0.89


def test_a_cell_that_nobody_is_in_may_be_there_all_the_same():
    data = draw_weighted(2000, 3)
    data["sex"] = np.where(data["city"] == "A", "F", data["sex"]).astype(object)
    _, upper = table_of(ask_weighted(), EXACT, data).estimates["share"].interval(0.95, 1)
    usual = (data["w"] ** 2).sum() / data["w"].sum()
    assert upper[1] == pytest.approx(3.84 * usual / data["w"].sum(), rel=0.3)  # as Wilson's


def test_the_whole_is_its_own_share_for_certain():
    table = table_of(ask_weighted(), EPSILON, draw_weighted(2000, 4))
    for name, places in (("share", [11]), ("row_share", [2, 5, 8, 11]), ("column_share", [9, 10, 11])):
        lower, upper = table.estimates[name].interval(0.95, 1)
        assert lower[places] == pytest.approx(1.0)
        assert upper[places] == pytest.approx(1.0)
