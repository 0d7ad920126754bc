import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from kit.analyses import frame
from kit.describing import EPSILON, EXACT, build, table_of

FRAME = frame({"x": (0, 10), "y": (0, 10), "z": (-5, 5)})
RANDOM = np.random.default_rng(1)
BASE = RANDOM.normal(size=(3, 8000))
DATA = {
    "x": np.clip(5 + 1.5 * BASE[0], 0, 10),
    "y": np.clip(5 + BASE[0] - BASE[1], 0, 10),
    "z": np.append(np.clip(BASE[2], -5, 5)[:-50], [np.nan] * 50),
}
COMPLETE = np.array([DATA[name][:-50] for name in "xyz"])


@pytest.mark.parametrize(("name", "plain"), [("covariances", np.cov), ("correlations", np.corrcoef)])
def test_the_matrix_is_whole_symmetric_and_that_of_complete_rows(name, plain):
    table = table_of(build(name, FRAME), EXACT, DATA)
    assert table.labels["column"] == ("x",) * 3 + ("y",) * 3 + ("z",) * 3
    assert table.labels["other"] == ("x", "y", "z") * 3
    found = table.estimates["estimate"].values.reshape(3, 3)
    assert found == pytest.approx(found.T)
    assert found == pytest.approx(plain(COMPLETE), abs=0.05)
    if name == "correlations":
        assert np.diag(found).tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ["covariances", "correlations"])
def test_parts_of_the_price_add_up_to_it(name):
    assert sum(part for _, part in build(name, FRAME).shares) == 1
    assert sum(each.price.epsilon for each in build(name, FRAME).rehearse(EPSILON)) == 1


def test_one_column_makes_no_matrix():
    with pytest.raises(BadArgument, match="columns"):
        build("correlations", FRAME, columns=(FRAME.numbers["x"],))
