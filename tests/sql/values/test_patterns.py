"""Regular expressions mean what they mean in Python, on every text, and what is not ours is refused."""

from __future__ import annotations

import random
import re

import duckdb
import pytest

from adomnia.engines.check.patterns import check_pattern
from adomnia.sql.values.patterns import (
    MOST_ATOMS,
    MOST_CHARACTERS,
    PatternError,
    count_operations,
    match_whole,
    read_like,
    read_pattern,
)

LETTERS = "abAB09_-. \n\t\r\x0b\x00é\u0301日😀\\|^$[](){}*+?,%/'\u0085\u2028\u00a0\x7f"
ATOMS = [
    "a",
    "b",
    "0",
    "é",
    "日",
    "😀",
    " ",
    ".",
    r"\.",
    r"\\",
    r"\d",
    r"\W",
    r"\s",
    r"\S",
    r"\n",
    r"\x41",
    "-",
    "_",
    "%",
]
ATOMS += [
    "[ab]",
    "[^a]",
    "[a-c0]",
    r"[\d_]",
    r"[^\w.]",
    r"[\]^]",
    "[-a]",
    "[a-]",
    r"[\s-]",
    "[日-龠]",
    "[^\n]",
    "/",
    "'",
]
REPEATS = ["", "", "", "*", "+", "?", "{2}", "{0,1}", "{1,}"]


def drawn(source: random.Random, depth: int = 2) -> str:
    """A pattern by chance."""
    parts = []
    for _ in range(source.randint(1, 3)):
        group = depth and source.random() < 0.3
        form = source.choice(["({})", "(?:{})"])
        atom = form.format(drawn(source, depth - 1)) if group else source.choice(ATOMS)
        parts.append(source.choice(["^", "$"]) if source.random() < 0.08 else atom + source.choice(REPEATS))
    return "".join(parts) + ("|" + drawn(source, depth - 1) if depth and source.random() < 0.25 else "")


def in_python(pattern: str, text: str) -> bool:
    """The same in Python, where $ is also before a newline at the end, unless it is written as an end."""
    return re.search(re.sub(r"(\\.)|\$", lambda found: found[1] or r"\Z", pattern), text, re.ASCII) is not None


def test_patterns_mean_what_they_mean_in_python_on_texts_by_chance():
    source = random.Random(20)
    texts = ["", *("".join(source.choices(LETTERS, k=source.randint(1, 6))) for _ in range(400))]
    patterns = [each for each in (drawn(source) for _ in range(250)) if "[" not in each or "$" not in each]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE texts AS SELECT UNNEST($1) AS text", [texts])
        for pattern in patterns:
            read = read_pattern(pattern)
            check_pattern(read.text)
            found = connection.execute("SELECT REGEXP_MATCHES(text, $1) FROM texts", [read.text]).fetchall()
            assert [each for (each,) in found] == [in_python(pattern, text) for text in texts], pattern
            assert read_pattern(read.text) == read
            assert count_operations(read.text) in (4 * read.atoms, 32 * read.atoms)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("^a$", r"\Aa\z"),
        ("(a|b)", "(?:a|b)"),
        (r"\w", r"[0-9A-Z\x5fa-z]"),
        (r"[\w-]", r"[0-9A-Z\x5fa-z\x2d]"),
        ("a{2,}", "a{2,}"),
        (".", r"[^\x0a]"),
        (r"\A\x4a\z", r"\AJ\z"),
        ("a'b", r"a\x27b"),
    ],
)
def test_a_pattern_has_one_form(written, text):
    assert read_pattern(written).text == text


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("", 1),
        ("a|", 3),
        ("(", 2),
        ("()", 2),
        ("(a", 1),
        ("a)", 2),
        ("*a", 1),
        ("a**", 1),
        ("a+?", 1),
        ("^*", 1),
        ("a{", 2),
        ("a{1", 2),
        ("a{2,1}", 2),
        ("a{02}", 2),
        ("a{2,03}", 2),
        ("a{00199}", 2),
        ("a{123255}", 2),
        ("a{0}", 2),
        ("a{256}", 2),
        ("a{255,}", 2),
        ("(a{255}){255}", 1),
        ("a{255}" * 2, 1),
        ("[", 1),
        ("[]", 1),
        ("[^]", 1),
        ("[b-a]", 1),
        ("[a-b-c]", 1),
        ("[[a]", 1),
        ("[a-\\d]", 1),
        ("]", 1),
        ("}", 1),
        ("\\", 1),
        ("\\b", 1),
        ("\\1", 1),
        ("\\é", 1),
        ("\\\n", 1),
        ("\\xff", 1),
        ("(?i)a", 1),
        ("(?<n>a)", 1),
        ("(?!a)", 1),
        ("(" * 40 + "a" + ")" * 40, 34),
        ("a" * (MOST_CHARACTERS + 1), MOST_CHARACTERS + 1),
    ],
)
def test_what_is_not_ours_is_refused_with_its_place(written, place):
    with pytest.raises(PatternError, match=rf"at its character {place}$"):
        read_pattern(written)


def test_no_pattern_has_more_atoms_than_are_believed():
    most = read_pattern("(a{100}){3}")
    assert most.atoms == MOST_ATOMS
    check_pattern(most.text)


@pytest.mark.parametrize(
    ("written", "operations"),
    [
        *(("influenza", 36), ("^flu|cold$", 36), (r"a\.b", 12), ("a*", 32), ("[ab]c", 64), ("(ab)", 64), ("a{5}", 160)),
        *(("[a-z0-9]", 32), ("[äöü]", 96), ("[a-zà-öø-ÿ]{2}", 128)),
    ],
)
def test_words_are_lighter_than_what_an_engine_has_to_follow_in_many_ways(written, operations):
    assert count_operations(read_pattern(written).text) == operations


def test_a_whole_match_holds_all_alternatives():
    assert match_whole(read_pattern("a|b")).text == r"\A(?:a|b)\z"


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("50!%", ["50%"], ["50", "50x", "50%x"]),
        ("!_%", ["_", "_\nx"], ["a", "a_"]),
        ("!!_", ["!a", "!\n"], ["a", "!", "!ab"]),
        ("%.!%", [".%", "\n.%"], ["x%"]),
    ],
)
def test_like_with_an_escape_means_what_the_engine_means(pattern, matching, others):
    read = read_like(pattern, "!")
    check_pattern(read.text)
    with duckdb.connect() as connection:
        for text in (*matching, *others):
            ask = "SELECT REGEXP_MATCHES($1, $2), $1 LIKE $3 ESCAPE '!'"
            assert connection.execute(ask, [text, read.text, pattern]).fetchall() == [(text in matching,) * 2]


@pytest.mark.parametrize("pattern", ["a!", "!", "!a", "a!!!"])
def test_an_escape_of_nothing_is_refused(pattern):
    with pytest.raises(PatternError, match="escape"):
        read_like(pattern, "!")
