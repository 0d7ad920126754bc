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
        "vists is not among the tables of the catalog. Fix: did you mean visits? they are people, visits, items, "
        "wide, cities, zones. (line 1, column 22)"
    ),
    "SELECT SUM(weight) FROM people": (
        "weight adds up weight, which has no declared bounds. Fix: bound it with CLAMP(weight, lower, upper), or the "
        'owner can declare weight = { type = "number", lower = ..., upper = ... }. (line 1, column 12)'
    ),
    "SELECT SUM(age * children) FROM people": (
        "age * children adds up children, which has no declared bounds. Fix: bound it with CLAMP(children, lower, "
        'upper), or the owner can declare children = { type = "integer", lower = ..., upper = ... }. '
        "(line 1, column 12)"
    ),
    "SELECT COUNT(*) FROM people WHERE Regexp_Extract(name, 'x') = 'x'": (
        "REGEXP_EXTRACT may take a time that depends on the data. Fix: use LIKE with % and _. (line 1, column 35)"
    ),
    "SELECT COUNT(*) FROM people WHERE age = 'x'": (
        "age = 'x' is made of integer, text. Fix: it takes two numbers, texts, dates, timestamps or booleans, alike. "
        "(line 1, column 35)"
    ),
    "SELECT name, COUNT(*) FROM people GROUP BY name": (
        "name may identify people, and its values are not declared. Fix: group by a declared category, "
        "or name the groups: WHERE name IN ('a', 'b'), or have them found: with approximate = true in [budget], "
        "which is the owner's to set, add delta=1e-9. (line 1, column 44)"
    ),
    "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM cities c WHERE c.population > p.age)": (
        "c.population > p.age compares with the row around it otherwise than by =. Fix: compare with the row around it "
        "by = alone, or join the public table. (line 1, column 74)"
    ),
    "SELECT COUNT(*) FROM people p JOIN visits v ON p.age = v.cost": (
        "This join with v pairs rows of different people, so that one person touches everybody's rows. Fix: equate "
        "the ids of the person, or of a declared link, in ON: p.person_id = v.person_id. (line 1, column 36)"
    ),
    "SELECT COUNT(*) FROM people p JOIN people q ON p.city = q.city": (
        "q joined with itself pairs people with each other, so that one person touches everybody's rows. Fix: name "
        "the table once, or equate the ids of the person. (line 1, column 36)"
    ),
    "SELECT COUNT(*) FROM visits v JOIN cities c ON c.region = 'North'": (
        "This join with c repeats every row for each public one. Fix: equate a column of each: ON a.column = c.column. "
        "(line 1, column 36)"
    ),
    "SELECT COUNT(*) FROM cities c LEFT JOIN people p ON p.city = c.city": (
        "LEFT JOIN from a public table to a private one gives rows for everybody who is not in the data, so that each "
        "person decides about all of them. Fix: begin with the private table: FROM private LEFT JOIN public. "
        "(line 1, column 41)"
    ),
    "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.cost > 3)": (
        "This subquery lets one person's rows decide about everybody's. Fix: relate it to the person: "
        "WHERE v.person_id = p.person_id. (line 1, column 52)"
    ),
    "SELECT COUNT(*) FROM (SELECT * FROM people LIMIT 10) t": (
        "LIMIT inside a question keeps rows by their order, which depends on everybody's rows. Fix: use LIMIT outside "
        "only. (line 1, column 30)"
    ),
}


@pytest.mark.parametrize(("text", "sentence"), SENTENCES.items())
def test_a_refusal_says_what_why_and_what_to_do(text, sentence):
    assert refused(text) == sentence


def test_a_long_word_is_not_repeated_in_full():
    assert len(refused(f"SELECT COUNT(*) FROM people WHERE {'x' * 5000} = 1")) < 400
    assert len(refused(f"SELECT COUNT(*) FROM people WHERE md5({' + '.join(['age'] * 50)}) = 1")) < 400


def test_a_long_list_of_names_is_cut():
    assert refused("SELECT COUNT(*) FROM people WHERE q = 1").count(",") < 14


@pytest.mark.parametrize(
    ("aggregate", "code"),
    [
        ("ANY_VALUE(name)", "aggregate_not_allowed"),
        ("FIRST(name) OVER ()", "window_function"),
        ("COUNT(DISTINCT sex, city) FILTER (WHERE active)", "aggregate_not_allowed"),
        ("ENTROPY(age)", "aggregate_not_allowed"),
        ("nextval('x')", "nondeterministic_function"),
        ("dblink('x')", "function_not_allowed"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_what_it_is(aggregate, code):
    with pytest.raises(Refusal) as refusal:
        lower(f"SELECT {aggregate} FROM people", HOSPITAL)
    assert refusal.value.code == code
