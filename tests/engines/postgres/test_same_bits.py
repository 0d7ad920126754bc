"""Logarithms and powers are compared with DuckDB's, bit by bit, before they are offered on a server."""

from __future__ import annotations

import psycopg
import pytest

from adomnia.engines.postgres.functions import BY_LIBRARY
from adomnia.engines.postgres.library import render_library
from adomnia.engines.postgres.same_bits import expect_bits, render_same_bits
from kit.postgres import database


@pytest.fixture(scope="module")
def connection():
    with database() as url, psycopg.connect(url, autocommit=True) as made:
        made.execute("CREATE SCHEMA ix; SET search_path = ix, pg_catalog")
        for statement in render_library("ix"):
            made.execute(statement)
        yield made


@pytest.mark.parametrize("function", sorted(BY_LIBRARY))
def test_this_server_computes_the_same_bits(connection, function):
    ((found,),) = connection.execute(render_same_bits(function)).fetchall()
    assert found == expect_bits(function)
    assert len(set(found.split(","))) > 150


def test_another_last_bit_is_seen(connection):
    written = render_same_bits("ln").replace("ao_ln(x)", "ao_ln(x) * 1.0000000000000002")
    ((found,),) = connection.execute(written).fetchall()
    assert found != expect_bits("ln")
    same = sum(one == other for one, other in zip(found.split(","), expect_bits("ln").split(","), strict=True))
    assert same == 0
