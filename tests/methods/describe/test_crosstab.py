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
