"""Formulas: what they expand to, as formulaic reads them, and what is refused where."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from adomnia.methods.contract import BadArgument
from adomnia.methods.parts.models.formula import LONGEST, MOST_TERMS, Number, name_term, read_formula
from kit.analyses import frame

FRAME = frame(
    {"y": (0, 1), "x": (0, 1), "z": (1, 9), "odd-name": (0, 1), "a": (0, 1), "b": (0, 1), "c": (0, 1)},
    {"city": ("Oslo", "Bergen")},
)


def terms_of(text):
    formula = read_formula(text, FRAME)
    return ["1"] * formula.intercept + [name_term(term) for term in formula.terms]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("y ~ x + z", ["1", "x", "z"]),
        ("y~x", ["1", "x"]),
        ("y ~ 0 + x", ["x"]),
        ("y ~ x - 1", ["x"]),
        ("y ~ -1 + x", ["x"]),
        ("y ~ x - 1 + 1", ["1", "x"]),
        ("y ~ 1", ["1"]),
        ("y ~ a:b", ["1", "a:b"]),
        ("y ~ a:a", ["1", "a"]),
        ("y ~ b:a + a:b", ["1", "b:a"]),
        ("y ~ a*b", ["1", "a", "b", "a:b"]),
        ("y ~ a*b - a", ["1", "b", "a:b"]),
        ("y ~ (a + b + c)^2", ["1", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("y ~ (a + b + c)**3 - a:b:c", ["1", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("y ~ a*b*c", ["1", "a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]),
        ("y ~ C(city) + city + factor(CITY)", ["1", "city"]),
        ("y ~ I(x^2) + I(x * z) + I(x*x)", ["1", "I(x^2)", "I(x*z)", "I(x*x)"]),
        ("y ~ poly(x, 3) + log(z)", ["1", "poly(x, 3)", "log(z)"]),
        ("Y ~ `odd-name` + X", ["1", "odd-name", "x"]),
        ("y ~ . - city - c", ["1", "x", "z", "odd-name", "a", "b"]),
    ],
)
def test_a_formula_expands_as_in_r(text, terms):
    assert terms_of(text) == terms


def test_the_response_may_be_a_logarithm():
    assert read_formula("log(z) ~ x", FRAME).response == Number("z", log=True)


def generated(rng, depth=0):
    """A random expression of sums, products, powers and brackets."""
    kind = rng.random()
    if depth > 2 or kind < 0.4:
        return rng.choice("abcxz")
    if kind < 0.6:
        return f"({generated(rng, depth + 1)} + {generated(rng, depth + 1)})"
    if kind < 0.7:
        return f"({generated(rng, depth + 1)} + {rng.choice('abc')} + {rng.choice('xz')})^{rng.choice('23')}"
    sign = rng.choice([":", "*"])
    return f"{generated(rng, depth + 1)}{sign}{generated(rng, depth + 1)}"


@pytest.mark.parametrize("seed", range(60))
def test_generated_formulas_expand_as_formulaic_expands_them(seed):
    from formulaic import Formula

    rng = random.Random(seed)
    text = " + ".join(generated(rng) for _ in range(rng.randint(1, 3))) + rng.choice(["", " - 1", " - a", " - a:b"])
    expected = {frozenset(str(term).split(":")) for term in Formula(text)}
    assert {frozenset(term.split(":")) for term in terms_of(f"y ~ {text}")} == expected


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ("y", 1, "no ~"),
        ("~ x", 0, "what is explained"),
        ("y ~", 3, "nothing where a column"),
        ("y ~ 0", 5, "has no terms"),
        ("y ~ x + 3", 8, "the number 3"),
        ("y ~ 2*x", 4, "the number 2"),
        ("y ~ (x + 1)", 9, "the number 1"),
        ("y ~ 1*x", 5, "multiplies a number"),
        ("y ~ x^2", 4, "I(x^2)"),
        ("y ~ x + cty", 8, "did you mean city?"),
        ("y ~ exp(x)", 4, "calls exp"),
        ("y ~ x + offset(z)", 8, "calls offset"),
        ("y ~ log(x)", 4, "may be 0 or less"),
        ("y ~ log(city)", 8, "a category"),
        ("y ~ C(x)", 6, "not declared"),
        ("y ~ I(x + 1)", 8, "adds inside I()"),
        ("y ~ I(x^9)", 8, "from 1 to 4"),
        ("y ~ I(x^3*x^3)", 4, "more than 4 numbers"),
        ("y ~ I(x^4*z^4)", 4, "more than 4 numbers"),
        ("y ~ poly(x)", 10, "without a degree"),
        ("y ~ poly(x, 0)", 12, "degree of poly"),
        ("y ~ (x + z", 10, "never closed"),
        ("y ~ x z", 6, "cannot be read from 'z'"),
        ("y ~ x | z", 6, "stands for nothing"),
        ("y ~ x; z", 5, "stands for nothing"),
        ("y ~ x + y", 8, "by itself"),
        ("city ~ x", 0, "takes city for a number"),
        ("y ~ (a + b)^99", 12, "from 1 to 8"),
        ("y ~ x +", 7, "nothing where a column"),
        ("y ~ C(city, Sum)", 12, "codes city by Sum, and knows Treatment only"),
        ("y ~ C(city, Treatment('Olso'))", 22, "did you mean 'Oslo'? use one of 'Oslo', 'Bergen'"),
        ("y ~ C(city, Treatment(reference='Rome'))", 32, "Fix: use one of 'Oslo', 'Bergen'"),
        ("y ~ C(city, Treatment(1))", 22, "which is none of its declared values"),
        ("y ~ C(city, Treatment(-'Oslo'))", 22, "needs a level"),
        ("y ~ C(city, Treatment(reference 'Oslo'))", 32, "reference without ="),
        ("y ~ C(city, Treatment('Oslo', 2))", 28, "more in Treatment()"),
        ("y ~ C(city, Treatment('Oslo)", 22, "stands for nothing"),
        ("y ~ C(city, )", 12, "needs the name of a column"),
        ("y ~ x = z", 6, "cannot be read from '='"),
        ("y ~ 'x'", 4, "where a column should stand"),
    ],
)
def test_a_refusal_says_where_it_is(text, offset, words):
    with pytest.raises(BadArgument) as refused:
        read_formula(text, FRAME)
    assert words in str(refused.value)
    assert (refused.value.argument, refused.value.offset) == ("formula", offset)


@pytest.mark.parametrize(
    "text",
    [
        "y ~ " + "(" * 500 + "x" + ")" * 500,
        "y ~ " + "x + " * LONGEST,
        "y ~ " + "*".join(["(a + b + c + x + z)"] * 40),
        "y ~ ((a + b + c + x + z)^8)^8",
        "y ~ " + "^8".join(["(a*b*c*x*z)"] * 1) + "^8:(a + b)^8",
    ],
)
def test_the_work_of_reading_is_limited(text):
    with suppress(BadArgument):
        assert len(terms_of(text)) <= MOST_TERMS + 1


def test_a_column_that_cannot_be_used_says_why():
    from dataclasses import replace

    given = replace(FRAME, unusable={"born": ("is a date", "take its year")})
    with pytest.raises(BadArgument, match=r"names born, which is a date\. Fix: take its year"):
        read_formula("y ~ born", given)
