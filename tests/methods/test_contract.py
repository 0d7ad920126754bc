import pytest

from adomnia.methods.contract import MOST_NUMBERS, BadArgument, Factor, demand_few_tables
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text


def factor(levels):
    return Factor("city", Column("city", Text(tuple(map(str, range(levels))))))


def test_a_table_without_groups_may_have_any_size():
    demand_few_tables((), 10 * MOST_NUMBERS)


@pytest.mark.parametrize(("numbers", "most"), [(100, MOST_NUMBERS // 100), (10 * MOST_NUMBERS, 1)])
def test_as_many_tables_may_be_made_as_their_numbers_allow(numbers, most):
    demand_few_tables((factor(most),), numbers)
    with pytest.raises(BadArgument, match=f"makes {2 * most + 2} groups") as refused:
        demand_few_tables((factor(most + 1), factor(2)), numbers)
    assert refused.value.argument == "by"
