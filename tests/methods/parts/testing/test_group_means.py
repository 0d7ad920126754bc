from fractions import Fraction

from adomnia.methods.parts.testing.group_means import size_of, subtract, subtract_number
from kit.analyses import frame

ROWS = frame({"n": (0, 4), "m": (-2, 10), "x": (0, 500_000)}, whole=("n", "m"))
N, M, X = (ROWS.numbers[name] for name in "nmx")


def bounds(column):
    return column.domain.lower, column.domain.upper, column.domain.step


def test_a_difference_has_the_bounds_and_the_finer_step_of_both():
    assert bounds(subtract(N, M)) == (-10, 6, 1)
    assert bounds(subtract(N, X)) == (-500_000, 4, Fraction(1, 4))
    assert subtract(N, M).name == "n - m"


def test_a_number_that_is_taken_away_is_on_the_grid():
    assert bounds(subtract_number(N, Fraction(23, 10))) == (Fraction(-23, 10), Fraction(17, 10), Fraction(1, 10))
    assert subtract_number(N, Fraction(0)) == N
    assert subtract_number(X, Fraction(1, 10**12)).domain.step == X.domain.step  # which would be too fine


def test_sizes_are_above_zero_and_start_where_differences_can():
    assert bounds(size_of(subtract(N, M))) == (0, 10, 1)
    assert bounds(size_of(subtract_number(N, Fraction(-3)))) == (3, 7, 1)
    assert bounds(size_of(subtract_number(N, Fraction(9)))) == (5, 9, 1)
