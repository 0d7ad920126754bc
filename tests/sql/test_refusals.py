"""A refusal repeats only the analyst's own words and public names, and says where it applies."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL


def refused(text):
    with pytest.raises(Refusal) as refusal:
        lower(text, HOSPITAL)
    return str(refusal.value)


SENTENCES = {
    "SELECT AVG(salery) FROM people": (
        "salery is not among the columns of people. Fix: did you mean salary? they are person_id, name, age, sex, "
        "city, salary, eye_color, active, score, weight, children, born. (line 1, column 12)"
    ),
    "SELECT COUNT(*) FROM vists": (
        "vists is not among the tables of the catalog. Fix: did you mean visits? they are people, visits, wide, "
        "cities. (line 1, column 22)"
    ),
    "SELECT SUM(weight) FROM people": (
        "weight adds up weight, which has no declared bounds. Fix: the owner can write "
        'weight = { type = "number", lower = ..., upper = ... } under [tables.people.columns]. (line 1, column 12)'
    ),
    "SELECT SUM(age * children) FROM people": (
        "age * children adds up children, which has no declared bounds. Fix: the owner can write children = "
        '{ type = "integer", lower = ..., upper = ... } under [tables.people.columns]. (line 1, column 12)'
    ),
    "SELECT COUNT(*) FROM people WHERE Regexp_Matches(name, 'x')": (
        "REGEXP_MATCHES may take a time that depends on the data. Fix: use LIKE with % and _. (line 1, column 35)"
    ),
    "SELECT COUNT(*) FROM people WHERE age = 'x'": (
        "age = 'x' is made of integer, text. Fix: it takes two numbers, texts, dates or booleans, alike. "
        "(line 1, column 35)"
    ),
    "SELECT name, COUNT(*) FROM people GROUP BY name": (
        "name may identify people, and its values are not declared. Fix: group by a declared category. "
        "(line 1, column 44)"
    ),
    "SELECT COUNT(*) FROM cities": (
        "cities is public, and questions about public tables alone are not answered yet. Fix: ask the owner: "
        "public tables can be read as files. (line 1, column 22)"
    ),
}


@pytest.mark.parametrize(("text", "sentence"), SENTENCES.items())
def test_a_refusal_says_what_why_and_what_to_do(text, sentence):
    assert refused(text) == sentence


def test_a_long_word_is_not_repeated_in_full():
    assert len(refused(f"SELECT COUNT(*) FROM people WHERE {'x' * 5000} = 1")) < 400
    assert len(refused(f"SELECT COUNT(*) FROM people WHERE sqrt({' + '.join(['age'] * 50)}) = 1")) < 400


def test_a_long_list_of_names_is_cut():
    assert refused("SELECT COUNT(*) FROM people WHERE q = 1").count(",") < 14


@pytest.mark.parametrize(
    ("aggregate", "code"),
    [
        ("ANY_VALUE(name)", "aggregate_not_allowed"),
        ("FIRST(name) OVER ()", "window_function"),
        ("COUNT(*) FILTER (WHERE active)", "aggregate_not_allowed"),
        ("ENTROPY(age)", "aggregate_not_allowed"),
        ("nextval('x')", "nondeterministic_function"),
        ("dblink('x')", "function_not_allowed"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_what_it_is(aggregate, code):
    with pytest.raises(Refusal) as refusal:
        lower(f"SELECT {aggregate} FROM people", HOSPITAL)
    assert refusal.value.code == code
