"""The second look believes a regular expression only where every engine compiles it, whatever the rows are."""

from __future__ import annotations

import duckdb
import pytest

from adomnia.engines.check.patterns import check_pattern
from adomnia.errors import Failure

BELIEVED = [
    "a",
    r"\A[a-z0-9]+\z",
    r"(?:a|b\x2e)*c?",
    r"[^\x0a]{2}[\x00-ÿ]{0,255}",
    "a{75}" * 4,
    "(?:(?:a{9}b){5}){6}",
    "(?:" * 64 + "a" + ")" * 64,
    "日本|é+",
    "[à-öø-ÿ]{75}[é日]{75}",
]
NOT_BELIEVED = [
    "",
    "(a)",
    "(?:a",
    "a)",
    "a|",
    "|a",
    "(?:)",
    "(?:a|)",
    "*",
    "a**",
    "a{2}{2}",
    r"\A*",
    "a|*",
    "(?:*a)",
    "a{2,1}",
    "a{256}",
    "a{255,}",
    "a{,3}",
    "a{1",
    "[]",
    "[^]",
    "[z-a]",
    r"[\x7a-\x61]",
    "[a",
    ".",
    r"\d",
    r"\x{41}",
    r"\xg1",
    r"\b",
    r"\1",
    "(?i)a",
    "(?=a)",
    "a.b",
    "$",
    "a\nb",
    "_",
    "a{76}" * 4,
    "(?:a{32}){32}",
    "a{0}" + "(?:a{100}|b){3}",
    "a{02}",
    "a{1,02}",
    "[à-öø-ÿ]{151}",
    r"[\x80\x90]{151}",
]


@pytest.mark.parametrize("pattern", BELIEVED)
def test_patterns_of_known_signs_are_believed_and_compile(pattern):
    check_pattern(pattern)
    with duckdb.cursor() as connection:
        assert connection.execute("SELECT REGEXP_MATCHES('', $1)", [pattern]).fetchall()


@pytest.mark.parametrize("pattern", NOT_BELIEVED)
def test_no_other_pattern_is_believed(pattern):
    with pytest.raises(Failure):
        check_pattern(pattern)
