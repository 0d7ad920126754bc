"""Relations say how many rows of one person can reach their output."""

from adomnia.privacy.expressions import Column, Literal
from adomnia.privacy.kinds import Truth
from adomnia.privacy.relations import Table, Where

ACTIVE = Column("active", Truth())
VISITS = Table("visits", 10, (ACTIVE,))


def test_a_filter_changes_neither_the_rows_per_person_nor_the_columns():
    filtered = Where(Where(VISITS, ACTIVE), Literal(False, Truth()))
    assert filtered.rows_per_person == 10
    assert filtered.columns == (ACTIVE,)


def test_relations_are_values():
    assert Where(VISITS, ACTIVE) == Where(Table("visits", 10, (ACTIVE,)), ACTIVE)
    assert hash(Where(VISITS, ACTIVE)) == hash(Where(VISITS, ACTIVE))
    assert Where(VISITS, ACTIVE) != Where(Table("visits", 9, (ACTIVE,)), ACTIVE)
