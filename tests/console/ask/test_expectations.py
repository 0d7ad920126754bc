"""How wrong an answer may be, in words."""

from __future__ import annotations

from adomnia.console.ask.expectations import find_roughest, list_errors, show_error, tabulate_sizes
from adomnia.pricing.bills import Expected

COUNT = Expected("n", "COUNT(*)", 12.0, None, 0.02)
MEAN = Expected("pay", "AVG(pay)", 5991.0, 1000, 0.01)


def test_each_column_has_its_error_and_the_groups_in_which_it_holds():
    lines = list_errors([COUNT, MEAN], [COUNT, Expected("pay", "AVG(pay)", 61_234.0, 100, 0.1)])
    assert [line.says for line in lines] == [
        "n ± 12 in any group",
        "pay ± 5,990 in a group of 1,000",
        "pay ± 61,200 in a group of 100",
    ]
    assert [line.again for line in lines] == [False, False, True]


def test_an_error_that_is_not_known_and_one_in_days_say_so():
    assert show_error(Expected("q", "x", None)) == "not known before"
    assert show_error(Expected("d", "x", 3.0, days=True)) == "± 3 days"


def test_the_roughest_column_is_one_that_depends_on_the_size_of_groups():
    assert find_roughest([COUNT, MEAN]) == MEAN
    assert find_roughest([COUNT]) == COUNT
    assert find_roughest([Expected("q", "x", None)]) is None


def test_the_table_of_sizes_draws_each_interval_around_the_middle():
    table = tabulate_sizes(
        "pay", [(100, Expected("pay", "", 41_800.0, 100)), (1000, Expected("pay", "", 4120.0, 1000))]
    )
    assert table is not None
    assert table.mark == "50k"
    assert all(abs(line.left + line.right - 1) < 1e-9 for line in table.lines)
    assert 0 <= table.first < table.lines[0].left < table.lines[1].left < 0.5
    assert tabulate_sizes("pay", [(100, MEAN)]) is None
