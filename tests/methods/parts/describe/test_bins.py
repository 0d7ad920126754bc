from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.describe.bins import EqualBins
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from kit.analyses import Arms, frame
from kit.bits import SeededBits

FRAME = frame({"x": (-10, 10), "y": (0, 120)}, whole=("y",))


@pytest.mark.parametrize(("name", "wanted", "count"), [("x", 8, 8), ("y", 24, 21), ("y", 500, 121)])
def test_bins_hold_all_rows_each_with_its_upper_end(name, wanted, count):
    bins = EqualBins(FRAME.numbers[name], wanted)
    edges = [float(each) for each in bins.edges]
    assert bins.count == count == len(edges) - 1
    random = np.random.default_rng(1)
    values = random.uniform(-12, 12, 400) if name == "x" else np.round(random.uniform(0, 120, 400))
    values = np.append(values, edges)
    data = {"x": values, "y": values}
    counts = Arms(data, SeededBits("0")).exact(Query(FRAME.relation, (bins.key,), Rows()))
    inside = np.clip(values, edges[0], edges[-1])
    assert np.cumsum(counts).tolist() == [(inside <= edge + 1e-9).sum() for edge in edges[1:]]


def test_whole_numbers_are_never_divided():
    assert all(each.denominator == 1 for each in EqualBins(FRAME.numbers["y"], 24).edges)
    assert EqualBins(FRAME.numbers["x"], 8).width == Fraction(5, 2)
