"""Types are told apart by all that is said of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp, parse_one

from adomnia.engines.check.nodes import is_marked, needs_reading, read_phrases, type_key, vocabulary_of
from adomnia.engines.duckdb_dialect import DUCKDB


def key_of(kind):
    return type_key(parse_one(f"CAST(x AS {kind})", dialect="duckdb").to)


def test_a_type_of_one_word_is_its_word():
    assert key_of("BIGINT") is exp.DType.BIGINT


def test_digits_tell_types_apart():
    assert key_of("DECIMAL(38, 0)") == (exp.DType.DECIMAL, "38", "0")
    assert len({key_of(kind) for kind in ("DECIMAL(38, 0)", "DECIMAL(38, 1)", "DECIMAL(37, 0)", "DECIMAL(38)")}) == 4


@pytest.mark.parametrize("kind", ["BIGINT[]", "DECIMAL(38, 0)[]", "STRUCT(a BIGINT)", "ENUM('38', '0')"])
def test_whatever_else_is_said_is_no_integer(kind):
    assert key_of(kind) not in vocabulary_of(DUCKDB).integers


def test_digits_with_a_word_behind_them_are_another_type():
    sized = exp.DataType.build("DECIMAL(38, 0)", dialect="duckdb")
    sized.expressions[1].set("expression", exp.var("CHAR"))
    assert type_key(sized) not in vocabulary_of(DUCKDB).integers
    quoted = exp.DataType.build("DECIMAL(38, 0)", dialect="duckdb")
    quoted.expressions[1].set("this", exp.Literal.string("0"))
    assert type_key(quoted) not in vocabulary_of(DUCKDB).integers


OTHER = replace(
    DUCKDB,
    name="postgres",
    double="CAST({0} AS DOUBLE PRECISION)",
    parameter="CAST(${0} AS TEXT)",
    readings={
        "of_multiply({0}, {1})": "({0} * {1})",
        "of_long({0})": "TRY_CAST({0} AS BIGINT)",
        "(STRPOS({0}, {1}) > 0)": "CONTAINS({0}, {1})",
        "of_square({0})": "({0} * {0})",
        "of_steps({0}, {at_most_one})": "({0} / {at_most_one})",
        "CASE WHEN {0} THEN 1 WHEN NOT {0} THEN 0 END": "CAST({0} AS DOUBLE)",
        "CASE WHEN {0} THEN 7 ELSE 8 END": "of_seven({0})",
    },
)
NAMED = replace(DUCKDB, name="databricks", quotation="`", parameter=":p{0}")


def read(text, dialect=OTHER):
    return read_phrases(parse_one(text, dialect=dialect.name), dialect).sql("duckdb")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("of_long(of_multiply(x, y))", "TRY_CAST((x * y) AS BIGINT)"),
        ("of_multiply(of_multiply(a, b), c + d)", "((a * b) * c + d)"),
        ("of_square(of_long(x))", "(TRY_CAST(x AS BIGINT) * TRY_CAST(x AS BIGINT))"),
        ("(STRPOS(a, b) > 0)", "CONTAINS(a, b)"),
        ("CASE WHEN a > b THEN 1 WHEN NOT a > b THEN 0 END", "CAST(a > b AS DOUBLE)"),
        ("of_steps(of_long(x), CAST(0.5e0 AS DOUBLE PRECISION))", "(TRY_CAST(x AS BIGINT) / 0.5e0)"),
        ("of_steps(x, 1)", "(x / 1)"),
        ("CAST(-1.5e0 AS DOUBLE PRECISION)", "-1.5e0"),
        ("CAST($12 AS TEXT)", "$12"),
    ],
)
def test_a_phrase_is_read_as_what_it_means(written, meant):
    assert read(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "x * y",
        "CASE WHEN x THEN 7 END",
        "of_multiply(x)",
        "of_multiply(x, y, z)",
        "of_steps(x, y)",
        "of_steps(x, 1.5e0)",
        "of_steps(x, 0)",
        "of_steps(x, -0.5e0)",
        "of_steps(x, '0.5')",
        "of_steps(x, CAST(y AS DOUBLE PRECISION))",
        "STRPOS(a, b) > 1",
        "CASE WHEN a THEN 1 WHEN NOT b THEN 0 END",
        "CASE WHEN a THEN 1 WHEN NOT a THEN 0 ELSE 2 END",
        "CAST(x AS DOUBLE PRECISION)",
        "CAST('1' AS DOUBLE PRECISION)",
        "CAST(x AS TEXT)",
        "TRY_CAST($1 AS TEXT)",
    ],
)
def test_what_only_resembles_a_phrase_stays_as_it_is(written):
    plain = parse_one(written, dialect="postgres")
    assert read_phrases(plain.copy(), OTHER) == plain


def test_parameters_by_name_have_numbers():
    assert read("a = :p2 AND b = :p13", NAMED) == "a = $2 AND b = $13"


def test_nodes_of_a_phrase_are_marked_and_what_stands_in_its_holes_is_not():
    found = read_phrases(parse_one("of_multiply(x * 2, y)", dialect="postgres"), OTHER)
    inner, outer = sorted(found.find_all(exp.Mul), key=lambda node: node.depth, reverse=True)
    assert is_marked(outer)
    assert not is_marked(inner)


def test_a_long_chain_is_read_without_recursion():
    chain = " + ".join(["of_long(x)"] * 3000)
    assert read_phrases(parse_one(chain, dialect="postgres"), OTHER).find(exp.Anonymous) is None


def test_the_canonical_dialect_needs_no_reading():
    assert not needs_reading(DUCKDB)
    assert needs_reading(OTHER)
    assert needs_reading(NAMED)


@pytest.mark.parametrize("mark", ["total", "total=true", "total=Total"])
def test_a_comment_marks_nothing(mark):
    tree = read_phrases(parse_one(f"a / /* sqlglot.meta {mark} */ b", dialect=OTHER.name), OTHER)
    assert "total" in tree.meta  # the parser did read the comment
    assert not is_marked(tree)
