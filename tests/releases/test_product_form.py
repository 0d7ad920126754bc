"""A product is built again from plain data, and nothing else is."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from adomnia import methods
from adomnia.methods.synthesis.geography import Geography
from adomnia.methods.synthesis.nested_release import LevelTable, NestedRelease
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.methods.synthesis.strategies import GramRelease
from adomnia.privacy.transforms.matrices import Matrix
from adomnia.releases.arrays import Packer, Unpacker
from adomnia.releases.product_form import (
    ESTIMATES,
    MOST_COLUMNS,
    from_plain,
    read_attributes,
    read_estimates,
    to_plain,
    write_estimates,
)
from adomnia.statistics.products import Product
from kit.released import AGE, SEX, make_release

SIZES = (3, 2, 1)
PLACES = Geography((3,))
LEVELS = [
    LevelTable(0, np.array([[9.0, 8.0]]), 0.5, np.zeros(1), 0.0),
    LevelTable(1, np.arange(6.0).reshape(3, 2), 0.25, np.zeros(3), 0.0),
]
# Of each sort one that is made, how many values its columns have, and columns that it counts by.
KEPT = {
    "Residuals": (
        Residuals.from_measured(SIZES, [NoisyMarginal((0, 1), np.arange(6).reshape(3, 2), 2.5)]),
        SIZES,
        ((0,), (1, 0), (0, 1)),
    ),
    "GramRelease": (GramRelease.solve(Matrix.dense([[1, 1, 1], [1, 0, 0], [0, 2, 1]]), [7, 2, 5], 2.5), (3,), ((0,),)),
    "NestedRelease": (NestedRelease.solve(PLACES, (2,), LEVELS, None), (3, 2), ((0,), (0, 1), (1, 0))),
}


def plain():
    """As it comes out of a folder: with lists in the places of tuples."""
    packer = Packer()
    written = packer.pack(to_plain(make_release().product))
    return Unpacker(*packer.columns()).unpack(written)


def test_a_product_comes_back_as_it_was():
    made, found = make_release().product, from_plain(plain())
    assert found.attributes == made.attributes
    assert np.array_equal(found.rows, made.rows)
    assert {columns: table.tolist() for columns, table in found.tables.items()} == {(0, 1): [[7, 0], [3, 11], [0, 1]]}
    groups = np.arange(6).reshape(3, 2)
    for one, other in zip(
        found.estimates.count((0, 1), groups, 6), made.estimates.count((0, 1), groups, 6), strict=True
    ):
        assert np.array_equal(one, other)


def test_estimates_and_rows_may_both_be_missing():
    bare = to_plain(Product((SEX,)))
    bare["attributes"][0] |= {"levels": ["F", "M", None], "edges": []}
    found = from_plain(bare)
    assert found.estimates is None
    assert found.rows is None


def change(path, value):
    def apply(written):
        place = written
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value

    return apply


@pytest.mark.parametrize(
    "spoil",
    [
        change(["attributes"], []),
        change(["attributes", 0, "name"], "AGE"),  # twice, but for the case of its letters
        change(["attributes", 0, "name"], "a\nb"),
        change(["attributes", 0, "name"], 5),
        change(["attributes", 0, "sort"], "picture"),
        change(["attributes", 0, "levels"], []),
        change(["attributes", 0, "levels"], ["F", "F", None]),
        change(["attributes", 0, "levels"], ["F", ["M"], None]),
        change(["attributes", 0, "levels"], ["F", float("nan"), None]),
        change(["attributes", 0, "levels"], ["F", 10**400, None]),
        change(["attributes", 0, "levels"], ["F", "M" * 10_001, None]),
        change(["attributes", 1, "edges"], [0.0, 1.0]),
        change(["attributes", 1, "edges"], [0.0, 2.0, 1.0]),
        change(["attributes", 1, "edges"], [0.0, 1.0, float("inf")]),
        change(["attributes", 1, "step"], 0.0),
        change(["attributes", 1, "step"], float("nan")),
        change(["attributes", 1, "step"], "1"),
        change(["tails"], "heavy"),
        change(["about"], []),
        change(["step"], -1.0),
        change(["step"], float("nan")),
        change(["step"], "1"),
        change(["rows"], np.zeros((2, 3))),
        change(["rows"], np.zeros((2, 2), int)),
        change(["rows"], np.full((2, 3), 5)),
        change(["rows"], np.full((2, 3), -1)),
        change(["rows"], [[0, 0, 0]]),
        change(["tables", 0, "columns"], [0, 7]),
        change(["tables", 0, "columns"], [0, 0]),
        change(["tables", 0, "counts"], np.zeros((2, 3), int)),
        change(["tables", 0, "counts"], np.zeros((3, 2))),
        change(["estimates", "tag"], "Pickle"),
        change(["estimates", "content"], {}),
        change(["estimates"], {"tag": "Residuals"}),
    ],
)
def test_what_no_product_says_is_refused(spoil):
    written = plain()
    spoil(written)
    with pytest.raises((ValueError, KeyError, TypeError)):
        from_plain(written)


def test_more_columns_than_a_release_may_have_are_refused():
    many = [
        {"name": f"c{k}", "sort": "text", "levels": ["a"], "edges": [], "step": None} for k in range(MOST_COLUMNS + 1)
    ]
    with pytest.raises(ValueError, match="columns"):
        read_attributes({"attributes": many})


def test_bins_may_have_a_missing_value_beside_them():
    written = {"name": "age", "sort": "integer", "levels": [*AGE.levels, None], "edges": list(AGE.edges)}
    (found,) = read_attributes({"attributes": [written | {"step": 1.0}]})
    assert found.levels == (*AGE.levels, None)
    assert found.step == 1


def there_and_back(estimates, sizes):
    packer = Packer()
    written = packer.pack(write_estimates(estimates))
    return read_estimates(Unpacker(*packer.columns()).unpack(written), sizes)


@pytest.mark.parametrize("tag", ESTIMATES)
def test_estimates_count_the_same_once_they_are_read_again(tag):
    made, sizes, sets = KEPT[tag]
    found = there_and_back(made, sizes)
    assert isinstance(found, ESTIMATES[tag])
    for columns in sets:
        shape = [sizes[column] for column in columns]
        groups = np.arange(np.prod(shape)).reshape(shape) % 2
        for one, other in zip(found.count(columns, groups, 2), made.count(columns, groups, 2), strict=True):
            assert np.array_equal(one, other)
        assert found.covers(columns)


@pytest.mark.parametrize("tag", ESTIMATES)
def test_estimates_of_other_columns_are_refused(tag):
    made, sizes, _ = KEPT[tag]
    for place in range(2 if len(sizes) > 1 else 1):
        others = [size + 3 * (place == own) for own, size in enumerate(sizes)]
        with pytest.raises((ValueError, KeyError, IndexError, TypeError)):
            there_and_back(made, tuple(others))


def test_nothing_is_nothing():
    assert read_estimates(write_estimates(None), SIZES) is None


def test_estimates_that_no_folder_knows_are_not_written():
    with pytest.raises(ValueError, match="registered"):
        write_estimates(object())


def test_whatever_says_how_it_is_kept_can_be_kept():
    sources = Path(methods.__file__).parent.rglob("*.py")
    classes = [node for path in sources for node in ast.walk(ast.parse(path.read_text())) if is_plain(node)]
    assert {node.name for node in classes} == {kind.__name__ for kind in ESTIMATES.values()}


def is_plain(node):
    return isinstance(node, ast.ClassDef) and any(getattr(each, "name", "") == "from_plain" for each in node.body)
