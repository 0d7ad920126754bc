"""What a question names of a release is bounded before any of it is computed."""

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.statistics.products import Attribute
from adomnia.work import Work, limit
from kit.asked_releases import ask, make_release

SIZE = 600
WIDE = tuple(Attribute(name, tuple(range(SIZE)), "integer") for name in "abc")


class Untouched:
    """Measurements that nobody may ask for."""

    def covers(self, _columns):
        return True

    def count(self, _columns, _groups, _number):
        raise AssertionError


def test_too_many_cells_are_refused_before_they_are_made():
    text = "SELECT COUNT(*) FROM releases.people WHERE a > 1 AND b > 1 AND c > 1"
    with pytest.raises(Refusal, match="216,000,000 cells"):
        ask(text, make_release(Untouched(), WIDE))


def test_columns_with_too_many_combinations_are_not_compared_with_each_other():
    with pytest.raises(Refusal, match="360,000 combinations"):
        ask("SELECT COUNT(*) FROM releases.people WHERE a > b", make_release(Untouched(), WIDE))


def test_the_steps_of_an_answer_are_counted_and_the_same_when_it_is_asked_again():
    release = make_release(Counted(), WIDE)
    spent = []
    for _ in range(2):
        work = Work()
        with limit(work):
            ask("SELECT COUNT(*) FROM releases.people WHERE a + 1 > 17 AND b < 5", release)
        spent.append(work.steps)
    assert spent[0] == spent[1] > SIZE**2 / 1000


class Counted(Untouched):
    def count(self, _columns, _groups, number):
        return np.ones(number), np.ones(number)
