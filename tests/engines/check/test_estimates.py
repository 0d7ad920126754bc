"""How far estimates of blocks move, derived a second time."""

from __future__ import annotations

from itertools import product

import pytest

from adomnia.engines.check import check_cells_of_blocks, estimate_sensitivity
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.privacy.estimates import EstimateMoments
from privacy.test_estimates import counts, moments, moves_of
from sql.hospital import HOSPITAL


@pytest.mark.no_cover
@pytest.mark.parametrize("bounds", [(lower, lower + width) for lower, width in product((-7, 0, 3), range(1, 30))])
def test_no_pair_of_estimates_is_further_apart(bounds):
    found = estimate_sensitivity(moments(bounds))
    moves = list(moves_of(moments(bounds).domains[0]))
    assert max(map(sum, moves)) <= found.l1
    assert max(one**2 + two**2 for one, two in moves) <= found.l2_squared
    assert max(map(max, moves)) <= found.linf


def test_parameters_are_added_up():
    one, two, both = (estimate_sensitivity(moments(*each)) for each in ([(0, 4)], [(0, 9)], [(0, 4), (0, 9)]))
    assert both == one + two
    assert estimate_sensitivity(counts((0, 4), (0, 9))) == counts((0, 4), (0, 9)).move


BLOCK = '("person" % 16777216) % 200'
COUNTED = f'SELECT {BLOCK} AS k0, "hospital" AS k1, COUNT(*) AS m0 FROM "visits" GROUP BY 1, 2'


def test_rows_of_a_block_may_be_counted_by_further_keys_without_a_cap():
    assert check_cells_of_blocks(Statement(COUNTED, ()), HOSPITAL, DUCKDB) == (range(200), range(5))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (f"{BLOCK} AS k0", '"hospital" AS k0'),  # no block of people
        ("AS k1", "AS k2"),
        ("AS m0", "AS n0"),
        ("GROUP BY 1, 2", "GROUP BY 1"),
        ("GROUP BY 1, 2", "GROUP BY 2, 1"),
        (f"{BLOCK} AS k0, ", ""),
        ("COUNT(*)", "COUNT(*) * COUNT(*)"),
        ('"visits"', '"regions"'),
    ],
)
def test_whatever_else_is_no_count_of_rows_in_blocks(right, wrong):
    assert right in COUNTED
    with pytest.raises(Failure):
        check_cells_of_blocks(Statement(COUNTED.replace(right, wrong), ()), HOSPITAL, DUCKDB)


def test_what_is_neither_moments_nor_counts_is_not_known():
    class Others(EstimateMoments):
        """What a person moves in these is anybody's guess."""

    planted = moments((0, 4))
    with pytest.raises(TypeError, match="moments or counts, got Others"):
        estimate_sensitivity(Others(planted.sums, planted.function, planted.domains))
