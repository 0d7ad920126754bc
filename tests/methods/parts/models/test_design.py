"""Designs: the columns that formulaic and R make, and columns that are refused because others make them up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from adomnia.methods.contract import BadArgument, Factor, Frame
from adomnia.methods.parts.models.design import MOST_COLUMNS, build_design, evaluate_basis
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket
from kit.analyses import frame
from kit.effort import do_within

FRAME = frame(
    {"y": (0, 9), "x": (0, 9), "z": (1, 5), "year": (1990, 2010), "k": (0, 3)},
    {"a": ("p", "q", "r"), "b": ("u", "v"), "one": ("only",)},
    whole=("k", "year"),
)


def matrix_of(design, data):
    """The columns in some rows, by the basis around the middles."""
    middles = [float(n.domain.lower + n.domain.upper) / 2 for n in design.numbers]
    halves = [float(n.domain.upper - n.domain.lower) / 2 for n in design.numbers]
    held = zip(design.numbers, design.logged, strict=False)
    values = [np.log(data[n.name[4:-1]]) if logged else data[n.name] for n, logged in held]
    numbers = [(np.asarray(v) - m) / h for v, m, h in zip(values, middles, halves, strict=True)]
    codes = [np.array([factor.levels.index(each) for each in data[factor.name]]) for factor in design.factors]
    return evaluate_basis(design.basis, numbers, codes, len(data)) @ design.transformation(middles, halves)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "x": rng.uniform(0, 9, 300),
            "z": rng.uniform(1, 5, 300),
            "year": rng.integers(1990, 2011, 300),
            "a": rng.choice(list("pqr"), 300),
            "b": rng.choice(list("uv"), 300),
        }
    )


@pytest.mark.parametrize(
    "right",
    [
        "x + z",
        "x + a",
        "x*a",
        "0 + a + b",
        "a:b",
        "a*b - a",
        "0 + a:x",
        "x + a:x + b:x",
        "(a + b + x)^2",
        "x:z - 1",
        "a:b:x",
        "log(z) + year",
        "year*x",
        "C(a, Treatment('q'))*x",
    ],
)
def test_columns_are_those_of_formulaic(right, data):
    from formulaic import model_matrix

    design = build_design(f"y ~ {right}", FRAME)
    found = matrix_of(design, data)
    expected = np.asarray(model_matrix(right.replace("^", "**"), data), dtype=float)
    assert found.shape == expected.shape
    both = np.hstack([found / np.linalg.norm(found, axis=0), expected / np.linalg.norm(expected, axis=0)])
    assert np.linalg.matrix_rank(both, tol=1e-6) == found.shape[1]  # they span the same


@pytest.mark.parametrize(
    ("right", "names"),
    [
        ("x + a", ["(Intercept)", "x", "a[q]", "a[r]"]),
        ("0 + a + b", ["a[p]", "a[q]", "a[r]", "b[v]"]),
        ("poly(x, 2):b", ["(Intercept)", *(f"poly(x, 2)[{k}]:b[{b}]" for k in (1, 2) for b in "uv")]),
        ("a*b", ["(Intercept)", "a[q]", "a[r]", "b[v]", "a[q]:b[v]", "a[r]:b[v]"]),
    ],
)
def test_columns_are_named_by_their_levels(right, names):
    assert list(build_design(f"y ~ {right}", FRAME).names) == names


@pytest.mark.parametrize("right", ["x*C(a, Treatment('r')) + b", "0 + C(a, Treatment(reference='q')):x"])
def test_with_a_reference_level_columns_are_named_as_in_statsmodels(right, data):
    import patsy

    design = build_design(f"y ~ {right}", FRAME)
    found = dict(zip(design.names, matrix_of(design, data).T, strict=True))
    expected = patsy.dmatrix(right, data)
    names = [name.replace("Intercept", "(Intercept)") for name in expected.design_info.column_names]
    ours = [name.replace("b[v]", "b[T.v]") for name in found]  # without Treatment() as in R
    assert sorted(_sort_parts(each) for each in ours) == sorted(_sort_parts(each) for each in names)
    by_name = {_sort_parts(name): column for name, column in zip(names, np.asarray(expected).T, strict=True)}
    for name, column in zip(ours, found.values(), strict=True):
        assert np.allclose(column, by_name[_sort_parts(name)])


def _sort_parts(name):
    return tuple(sorted(name.split(":")))


def test_a_number_or_a_condition_is_written_as_it_is():
    ranks = with_both("k")
    assert build_design("y ~ C(k, Treatment(2))", ranks).names[1:] == tuple(
        f"C(k, Treatment(2))[T.{level}]" for level in (0, 1, 3)
    )
    assert build_design("y ~ C(k, Treatment(2.0))", ranks).columns[1].levels == ((0, 0),)
    with pytest.raises(BadArgument, match="use one of 0, 1, 2, 3"):
        build_design("y ~ C(k, Treatment('2'))", ranks)
    with pytest.raises(BadArgument, match="none of its declared values"):
        build_design("y ~ C(k, Treatment(-2))", ranks)
    assert build_design("y ~ C(a, Treatment)", FRAME).names[1:] == ("C(a, Treatment)[T.q]", "C(a, Treatment)[T.r]")


def test_a_factor_has_one_reference_level_in_a_formula():
    with pytest.raises(BadArgument, match="codes a in two ways") as refused:
        build_design("y ~ a + x:C(a, Treatment('q'))", FRAME)
    assert "write C(a, Treatment('q')) everywhere" in str(refused.value)


def test_columns_hold_what_they_are_called(data):
    design = build_design("y ~ x*b + I(x^2) + log(z)", FRAME)
    found = dict(zip(design.names, matrix_of(design, data).T, strict=True))
    assert np.allclose(found["(Intercept)"], 1)
    assert np.allclose(found["I(x^2)"], data["x"] ** 2)
    assert np.allclose(found["log(z)"], np.log(data["z"]))
    assert np.allclose(found["x:b[v]"], data["x"] * (data["b"] == "v"))


def with_both(*names):
    """Numbers of few whole values, which may be factors as well."""
    factors = {
        name: Factor(name, Bucket(number.value, Numbers.integers(0, 3), number.value))
        for name in names
        for number in (FRAME.numbers[name],)
    }
    return Frame(FRAME.relation, FRAME.numbers, {**FRAME.factors, **factors})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y ~ x + I(x^1)", "I(x^1), which the columns before it make up"),
        ("y ~ x + poly(x, 2)", "make up"),
        ("y ~ one", "one value only"),
        ("y ~ k + C(k)", "make up"),
        ("y ~ I(x^3):x:x:I(x^2)", "more than 4 numbers"),
    ],
)
def test_columns_that_others_make_up_are_refused_before_data(text, words):
    with pytest.raises(BadArgument) as refused:
        build_design(text, with_both("k"))
    assert words in str(refused.value)


def test_a_number_of_few_values_has_no_more_powers_than_these():
    build_design("y ~ poly(k, 3)", FRAME)  # four values
    with pytest.raises(BadArgument, match="make up"):
        build_design("y ~ poly(k, 4)", FRAME)


def test_the_same_column_under_two_names_is_seen():
    twice = Frame(FRAME.relation, {**FRAME.numbers, "again": FRAME.numbers["x"]}, FRAME.factors)
    with pytest.raises(BadArgument, match="make up"):
        build_design("y ~ x + again", twice)


def test_constants_and_too_many_columns_are_refused():
    constant = frame({"y": (0, 1), "x": (3, 3)}, {}, whole=("x",))
    with pytest.raises(BadArgument, match="bounds are equal"):
        build_design("y ~ x", constant)
    many = frame({"y": (0, 1)}, {"c": tuple(f"c{k}" for k in range(MOST_COLUMNS + 1))})
    with pytest.raises(BadArgument, match="more than 128 columns"):
        build_design("y ~ c", many)


def test_rows_are_complete_in_all_that_is_named():
    design = build_design("y ~ x + a", FRAME)
    conditions = repr(design.complete_cases(FRAME.relation))
    assert all(f"name='{name}'" in conditions for name in ("y", "x", "a"))
    assert isinstance(design.factors[0].key, Column)


def test_the_lower_powers_of_products_are_counted_before_they_are_made():
    names = [f"x{place}" for place in range(40)]
    wide = frame({"y": (0, 1), **dict.fromkeys(names, (0, 1))})
    products = " + ".join(f"I({'*'.join(names[place : place + 4])})" for place in range(0, 40, 4))
    with pytest.raises(BadArgument, match="lower powers of products included"):
        build_design(f"y ~ {products}", wide)


def test_a_short_formula_of_many_powers_takes_no_time():
    names = [f"x{place}" for place in range(9)]
    wide = frame({"y": (0, 1), **dict.fromkeys(names, (0, 1))})

    def refuse():
        with pytest.raises(BadArgument, match="more than 4 numbers"):
            build_design(f"y ~ I({'*'.join(f'{name}^4' for name in names)})", wide)

    do_within(0.5, refuse)
