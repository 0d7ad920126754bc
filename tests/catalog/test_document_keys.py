"""The closed list of keys is consistent: every example obeys its rule, and the documentation leaves nothing out."""

from __future__ import annotations

import re
import tomllib
from datetime import date, datetime
from pathlib import Path

import pytest

from adomnia.catalog.document_keys import COLUMNS, SECTIONS, SYNONYMS, did_you_mean
from adomnia.catalog.model import RESERVED

DOCUMENTATION = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text(encoding="utf-8")
KEYS = [(section, key) for section in SECTIONS for key in section.keys]


@pytest.mark.parametrize(("section", "key"), KEYS, ids=lambda part: getattr(part, "name", None) or part.label)
def test_the_example_of_a_key_obeys_its_rule(section, key):
    example = re.sub(r"^(\[.*?\]) with .*", r"\1", key.example).partition(", or ")[0]
    value = tomllib.loads(example)
    inner = value["tables"]["people"] if key.name == "columns" else value
    assert key.rule.holds(inner[key.name])
    assert key.later is None or not key.later.holds(inner[key.name])


def rule_of(label, name):
    return next(key.rule for section, key in KEYS if (section.label, key.name) == (label, name))


@pytest.mark.parametrize(
    ("label", "name", "right", "wrong"),
    [
        ("[dataset]", "name", ["a", "_", "A1", "a" * 63], ["", "1a", "a b", "a-b", "é", "a" * 64, "a\n", 5]),
        ("[dataset]", "version", [1, 10**9], [0, -1, 1.0, True, "1", 10**9 + 1]),
        (
            "[dataset]",
            "unit",
            ["row", "a.b", "a.b.c", "a.b c"],
            ["", "rows", "a", "a .b", ".b", "a.", "a. b", "a.b\n", 1],
        ),
        ("[budget]", "epsilon", [1, 0.5, -1], ["1", True, [1], date(2024, 1, 1)]),
        ("[budget]", "approximate", [True, False], [0, 1, "true"]),
        ("an analyst", "policy", ["on_demand", "equal_split", "geometric"], ["", "Geometric", 1, None, ["geometric"]]),
        ("an analyst", "questions", [1, 10**6], [0, 10**6 + 1, 2.0, True, "20"]),
        ("an analyst", "spend", [0.1, 1e-9], [0, 1, 1.0, -0.1, float("nan"), True, "0.1"]),
        (
            "a private table",
            "person",
            ["a -> b.c", "a->b.c", "a b -> b.c.d"],
            ["a", "a -> b", "a > b.c", "a -> b.c -> d", " -> b.c", "a\n-> b.c", 1],
        ),
        ("a private table", "rows_per_person", [1, 10**6, {"max": 2}], [0, 10**6 + 1, 1.0, True, "1"]),
        (
            "a private table",
            "source",
            ["a.csv", "d/A.PARQUET", "a.tsv.gz", "a.db", "d", "d/", "postgresql://host/a", "POSTGRES:///?service=a.b"],
            ["a.xlsx", "", "/", 1, ["a.csv"]],
        ),
        ("[engine]", "name", ["duckdb", "postgres", "spark"], ["DuckDB", "sqlite", "", 1, ["duckdb"]]),
        (
            "[engine]",
            "url",
            ["sc://host", "sc://host:15002", "sc://[::1]:15002/"],
            ["host", "sc://", "sc://host/;token=abc", "sc://host/;use_ssl=true", "sc://me:geheim@host", "sc://a\n", 1],
        ),
        (
            "[engine]",
            "index",
            ["/srv/shared/adomnia", "s3a://bucket/adomnia", "abfss://box@account.example.org/adomnia"],
            ["adomnia", "/", "/srv/*", "s3a://key:secret@bucket/x", "s3a://bucket/x?key=y", "file:///srv", 1],
        ),
        ("a CSV file", "delimiter", [";", "\t", "|", " "], ["", ";;", "a", "1", "\n", "§", 1]),
        ("a CSV file", "thousands", [".", "'", " ", "\u202f"], ["", "..", "1", "-", 1]),
        ("a CSV file", "currency", ["$", "EUR", "kr "], ["", "1", "$.", "x" * 11, 1]),
        ("a CSV file", "null", [[], ["NA", ""]], ["NA", [1], ["x" * 1001], ["a"] * 101]),
        ("a CSV file", "quote", ["'", ""], ["ab", "a", 1]),
        ("a CSV file", "encoding", ["utf-8", "utf-16"], ["utf-32", "", 1, ["utf-8"]]),
        (
            "a date column",
            "format",
            ["%d.%m.%Y", "%-m/%-d/%y %H:%M", "%b %d %Y", "%d%%%m%Y"],
            ["", "%d.%m", "%Y", "%d.%m.%Y%", "%d.%m.%Y %Q", "%d.%m.%Y\n", "%d.%m.%Y" + "x" * 60, 1],
        ),
        ("a text column", "column", ["", " a", "x" * 1000], ["x" * 1001, 1]),
        ("a category column", "values", [["a"], [""], "t.c"], ["t", [1], ["a", None], {"a": 1}, 1]),
        ("a date column", "lower", [date(1900, 1, 1)], [datetime(1900, 1, 1), "1900-01-01", 1900]),  # noqa: DTZ001
        ("an integer column", "lower", [0, -(2**53), 2**53], [0.0, True, "0", 2**53 + 1, -(2**53) - 1]),
        ("a number column", "step", [1, 0.5], ["1", False]),
    ],
)
def test_a_rule_takes_what_it_says_and_nothing_else(label, name, right, wrong):
    rule = rule_of(label, name)
    assert [value for value in right if not rule.holds(value)] == []
    assert [value for value in wrong if rule.holds(value)] == []


@pytest.mark.parametrize("word", sorted({key.name for _, key in KEYS} | set(COLUMNS) | set(RESERVED)))
def test_every_key_type_and_reserved_word_is_documented(word):
    assert f"`{word}`" in DOCUMENTATION


def test_synonyms_lead_to_types_and_are_none_themselves():
    assert set(SYNONYMS.values()) == set(COLUMNS)
    assert set(SYNONYMS).isdisjoint(COLUMNS)


@pytest.mark.parametrize(
    ("word", "question"),
    [("uper", "did you mean upper?"), ("UPPER", "did you mean upper?"), ("salary", ""), ("", "")],
)
def test_a_suggestion_is_made_only_where_a_word_is_close(word, question):
    assert did_you_mean(word, ["lower", "upper"]) == question


def test_a_suggestion_is_spelt_as_it_was_declared():
    assert did_you_mean("peple", ["People", "visits"]) == "did you mean People?"


def test_the_first_example_of_the_documentation_is_a_catalog(tmp_path):
    from catalog.catalogs import reading

    example = re.search(r"^```toml\n(.*?)^```$", DOCUMENTATION, re.MULTILINE | re.DOTALL)[1]
    assert reading(tmp_path, example).name == "hospital"
