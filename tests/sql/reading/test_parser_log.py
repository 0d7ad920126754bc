"""No question reaches a log: the parser warns of what it does not know, and quotes it."""

from __future__ import annotations

import logging

import pytest
import sqlglot

from adomnia.errors import Refusal
from adomnia.sql.reading.parse import parse

QUOTED = "WITH secret AS (ALTER TABLE people DROP age) SELECT COUNT(*) FROM secret"


def test_the_parser_does_not_log_a_question(caplog):
    with caplog.at_level(logging.DEBUG), pytest.raises(Refusal):
        parse(QUOTED)
    assert caplog.records == []


def test_what_others_parse_is_logged_as_before(caplog):
    with pytest.raises(Refusal):
        parse(QUOTED)
    sqlglot.parse_one("ALTER TABLE people FOO", dialect="duckdb")
    assert [record.name for record in caplog.records] == ["sqlglot"]
