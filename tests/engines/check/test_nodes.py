"""Types are told apart by all that is said of them."""

import pytest
from sqlglot import exp, parse_one

from adomnia.engines.check.nodes import type_key, vocabulary_of
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
