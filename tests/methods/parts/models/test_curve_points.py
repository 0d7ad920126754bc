"""Where curves are told."""

import pytest

from adomnia.errors import Refusal
from adomnia.methods.column_bins import split_finely
from adomnia.methods.parts.models.curve_points import check_columns, choose_points, describe_about
from kit.analyses import frame

FRAME = frame({"x": (-2, 8), "age": (0, 5)}, whole=("age",))


def test_points_go_from_bound_to_bound():
    assert list(map(float, choose_points(split_finely(FRAME.numbers["x"], 128), 5))) == [-2, 0.5, 3, 5.5, 8]


def test_few_whole_numbers_are_points_themselves():
    assert choose_points(split_finely(FRAME.numbers["age"], 128), 25) == tuple(range(6))


def test_a_column_is_not_explained_by_itself():
    with pytest.raises(Refusal, match="by itself"):
        check_columns({"y": FRAME.numbers["x"], "x": FRAME.numbers["x"]})


def test_what_intervals_are_about_is_said():
    assert "population" in describe_about("curves", population=True)
    assert "in the data" in describe_about("curves", population=False)
