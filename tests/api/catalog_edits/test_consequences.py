from __future__ import annotations

import pytest

from adomnia.api.catalog_edits.consequences import list_consequences
from adomnia.api.catalog_edits.examining import examine_text
from adomnia.session.curator import open_folder
from kit import hospital

USERS = frozenset({"alice", "bob", "carol"})
CAP = ("rows_per_person = 3", "rows_per_person = {{ max = {}, epsilon = 0.5 }}")


@pytest.fixture
def folder(tmp_path):
    hospital.write(tmp_path, [hospital.person(k, salary=k) for k in range(20)], [hospital.visit(1)])
    return tmp_path


def read(folder, *changes: tuple[str, str], text: str = hospital.CATALOG):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    examined = examine_text(text, folder)
    assert examined.problems == ()
    return examined.catalog


def told(folder, *changes, before=()):
    return list_consequences(read(folder, *before), read(folder, *before, *changes), USERS)


@pytest.mark.parametrize(
    ("change", "about", "says", "weight"),
    [
        (("upper = 500_000", "upper = 9"), "people.salary", "Narrower bounds", "price"),
        (("upper = 500_000", "upper = 900_000"), "people.salary", "Wider bounds", "price"),
        (("step = 0.1", "step = 0.25"), "people.score", "steps of 0.25, not of 0.1", "info"),
        (('"number", lower = 0, upper = 500_000', '"number"'), "people.salary", "no bounds any more", "stop"),
        (
            ('weight = { type = "number"', 'weight = { type = "number", lower = 0, upper = 1'),
            "people.weight",
            "Has bounds now",
            "price",
        ),
        (('type = "integer", lower = 0', 'type = "number", lower = 0'), "people.age", "Is read as number", "stop"),
        (('["F", "M", "X"]', '["F", "M"]'), "people.sex", "Rows with X", "stop"),
        (('["F", "M", "X"]', '["F", "M", "X", "Y"]'), "people.sex", "further groups, Y", "info"),
        (('["F", "M", "X"]', '["M", "F", "X"]'), "people.sex", "another order", "info"),
        (('member = { type = "boolean" }\n', ""), "people.member", "May not be asked about any more", "stop"),
        (("rows_per_person = 3", "rows_per_person = 4"), "visits", "noise grows", "price"),
        (("rows_per_person = 3", "rows_per_person = 2"), "visits", "noise shrinks", "price"),
        ((CAP[0], CAP[1].format(8)), "visits", "Opening it measures once", "price"),
        (("version = 1", "version = 2"), "version", "paid for again", "price"),
        (("epsilon = 1_000_000", "epsilon = 2_000_000"), "budget", "stays spent", "stop"),
        (("epsilon = 1_000_000", "epsilon = 200_000"), "budget", "may spend less", "price"),
        (
            ("approximate = true", "approximate = false"),
            "budget",
            "Gaussian noise and searches for values end",
            "price",
        ),
        (("[analysts.carol]\nepsilon = 1", "[analysts.carol]\nepsilon = 2"), "carol", "may spend more", "stop"),
        (("[analysts.carol]", "[analysts.dora]"), "carol", "May ask nothing any more", "stop"),
        (("[analysts.carol]", "[analysts.dora]"), "dora", "Nobody of that name can sign in yet", "info"),
        (
            ("[analysts.carol]", '[analysts.carol]\npolicy = "equal_split"\nquestions = 20'),
            "carol",
            "split over 20 questions",
            "price",
        ),
        (
            ("[analysts.carol]", '[analysts.carol]\npolicy = "geometric"\nspend = 0.1'),
            "carol",
            "costs 10% of what",
            "price",
        ),
        (("[analysts.carol]", "[analysts.carol]\nceiling = 0.25"), "carol", "more than epsilon 0.25", "price"),
        (("[analysts.carol]", '[analysts.carol]\nstorage = "1MB"'), "carol", "limited otherwise", "info"),
        (("[analysts.carol]", "[analysts.carol]\npublish = true"), "carol", "May publish releases", "price"),
        (
            ("[tables.cities]", '[views.v]\nsql = "SELECT * FROM people"\n\n[tables.cities]'),
            "v",
            "Is a new view",
            "info",
        ),
        (('name = "hospital"', 'name = "clinic"'), "name", "The dataset is called clinic", "stop"),
        (('"warn"', '"refuse"'), "vacuous_answers", "refused, unless", "info"),
        (('"warn"', '"warn"\nminimum_frequency = 5'), "minimum_frequency", "at least 5 people", "info"),
        (('"warn"', '"warn"\ntoday = 2024-12-31'), "today", "CURRENT_DATE means 2024-12-31", "price"),
        (
            ('name = { type = "text" }', 'name = { type = "text", column = "full" }'),
            "people",
            "raise the version",
            "stop",
        ),
        (
            ('person = "person_id -> people', 'person = "visit_id -> people'),
            "visits",
            "Other rows count for a person",
            "stop",
        ),
    ],
)
def test_each_change_has_its_sentence(folder, change, about, says, weight):
    found = [(each.about, each.weight) for each in told(folder, change) if says in each.says]
    assert (about, weight) in found


def test_nothing_follows_from_a_comment(folder):
    assert told(folder, ("[budget]", "[budget] # for all")) == []


def test_what_weighs_most_comes_first(folder):
    weights = [each.weight for each in told(folder, ("upper = 500_000", "upper = 9"), ("1_000_000", "2_000_000"))]
    assert weights == sorted(weights, key=("stop", "price", "info").index)
    assert {"stop", "price", "info"} == set(weights)


def test_a_new_version_pays_for_profiles_again(folder):
    found = told(folder, ("version = 1", "version = 2"), before=((CAP[0], CAP[1].format(8)),))
    assert any("measured again for the new version, for epsilon 0.5" in each.says for each in found)


@pytest.mark.parametrize(
    ("change", "anew", "rebuilt"),
    [
        (("upper = 500_000", "upper = 9"), True, True),
        (('["F", "M", "X"]', '["F", "M"]'), True, True),
        (("rows_per_person = 1\n", "rows_per_person = 2\n"), True, False),
        (("rows_per_person = 3", "rows_per_person = 2"), False, False),
        (("epsilon = 1_000_000", "epsilon = 2_000_000"), False, False),
    ],
)
def test_what_is_said_of_earlier_answers_index_and_version_is_what_happens(folder, change, anew, rebuilt):
    found = told(folder, change)
    assert any(each.about == "people" and "paid for again" in each.says for each in found) is anew
    assert any(each.about == "index" for each in found) is rebuilt
    sql = "SELECT COUNT(*) AS n FROM people"
    with open_folder(folder) as curator:
        first = curator.session("alice").sql(sql, epsilon=1)
    request = first.receipt.request_id
    indexes = list((folder / ".adomnia").glob("index-*.duckdb"))
    (folder / "catalog.toml").write_text(hospital.CATALOG.replace(*change))
    with open_folder(folder) as curator:  # under the same version
        session = curator.session("alice")
        again = session.answer(request)
        assert again["n"] == first["n"]
        assert any("the catalog means something else" in note for note in again.notes) is anew
        assert session.sql(sql, epsilon=1).replayed is not anew
    assert (list((folder / ".adomnia").glob("index-*.duckdb")) != indexes) is rebuilt
    (folder / "catalog.toml").write_text(hospital.CATALOG)
    with open_folder(folder) as curator:
        assert curator.session("alice").answer(request).receipt.request_id == request
