"""A whole dataset in a folder: opened, asked, killed, opened again."""

from __future__ import annotations

import logging
import traceback
from dataclasses import replace

import pytest

import adomnia
from adomnia.errors import AdomniaError, Failure, Refusal
from adomnia.ledger.failpoints import KILLED
from kit.children import Child
from kit.hospital import CATALOG, curated, person, visit, write
from kit.waiting import HANG_SECONDS

COUNT = "SELECT COUNT(*) FROM people"
PEOPLE = [person(k, name=f"n{k}", age=30.0, sex="F", city="Oslo", salary=1000.0 * k) for k in range(6)]
VISITS = [visit(k % 6, hospital="H1", cost=5.0) for k in range(12)]


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "hospital", PEOPLE, VISITS)


def child(part, *arguments):
    return Child("kit.openers", part, *map(str, arguments))


def test_a_folder_is_opened_asked_and_opened_again(folder):
    steps = []
    with adomnia.open(folder, progress=lambda step, share: steps.append((step, share))) as curator:
        first = curator.session("alice").sql(COUNT, epsilon=0.5)
    assert steps[-1] == ("done", 1.0)
    with adomnia.open(str(folder)) as curator:
        again = curator.session("alice").sql(COUNT, epsilon=0.5)
        assert again.replayed
        assert again["count"] == first["count"]
        curator.ledger.verify()


def test_somebody_the_catalog_does_not_name_has_no_session(folder):
    with adomnia.open(folder) as curator, pytest.raises(Refusal, match="names alice, bob, carol"):
        curator.session("mallory")


def test_a_catalog_that_names_nobody_says_so(catalog):
    with curated(replace(catalog, analysts=()), [], []) as curator, pytest.raises(Refusal, match="names nobody"):
        curator.session("alice")


def test_catalog_and_file_that_disagree_are_refused_without_a_value(folder):
    text = CATALOG.replace('name = { type = "text" }', 'name = { type = "integer", lower = 0, upper = 9 }')
    (folder / "catalog.toml").write_text(text)
    with pytest.raises(Refusal) as refused:
        adomnia.open(folder)
    assert "people.name" in str(refused.value)
    assert not any(row["name"] in str(refused.value) for row in PEOPLE)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT nobody FROM people", "unknown_column"),
        ("SELECT * FROM people LIMIT 5", "limit_below_aggregate"),
        ("SELECT * FROM people p JOIN visits v ON p.name = v.diagnosis", "private_join"),
        ("SELECT * FROM mine", "recursion"),
    ],
)
def test_a_view_that_nobody_could_ask_about_is_refused_at_open(folder, sql, code):
    (folder / "catalog.toml").write_text(f'{CATALOG}\n[views.mine]\nsql = "{sql}"\n')
    with pytest.raises(Refusal, match="View mine: ") as refused:
        adomnia.open(folder)
    assert refused.value.code == code
    assert not (folder / ".adomnia").exists()


def test_a_view_is_asked_about_like_a_table(folder):
    (folder / "catalog.toml").write_text(f'{CATALOG}\n[views.mine]\nsql = "SELECT * FROM people WHERE age > 1"\n')
    with adomnia.open(folder) as curator:
        session = curator.session("alice")
        session.sql("SELECT COUNT(*) FROM mine", epsilon=0.5)
        assert session.sql("SELECT COUNT(*) FROM people WHERE age > 1", epsilon=0.5).replayed


def test_public_tables_are_answered_from_a_folder_and_on_made_up_rows(folder):
    with adomnia.open(folder) as curator:
        for session in (curator.session("alice"), curator.session("alice").mock()):
            assert session.sql("SELECT city, population FROM cities ORDER BY city LIMIT 1").records() == [
                {"city": "Bergen", "population": 1000}
            ]


def test_data_that_changed_under_an_old_version_is_refused(folder):
    adomnia.open(folder).close()
    write(folder, PEOPLE[1:], VISITS)
    with pytest.raises(Refusal, match="raise `version`"):
        adomnia.open(folder)
    (folder / "catalog.toml").write_text(CATALOG.replace("version = 1", "version = 2"))
    adomnia.open(folder).close()


def test_a_new_version_is_measured_anew(folder):
    with adomnia.open(folder) as curator:
        curator.session("alice").sql(COUNT, epsilon=0.5)
    write(folder, PEOPLE[1:], VISITS, CATALOG.replace("version = 1", "version = 2"))
    with adomnia.open(folder) as curator:
        assert not curator.session("alice").sql(COUNT, epsilon=0.5).replayed


ROWS = (
    CATALOG.replace('unit = "people.person_id"', 'unit = "row"')
    .replace("rows_per_person = 1\n", "")
    .replace('person = "person_id -> people.person_id"\nrows_per_person = 3\n', "")
)
OTHER_PEOPLE = {
    "the unit": (ROWS, "The unit is row, and it was people"),
    "a link": (
        CATALOG.replace('person = "person_id ->', 'person = "visit_id ->'),
        "table visits is visit_id -> people.person_id, and it was person_id ->",
    ),
}


@pytest.mark.parametrize("name", OTHER_PEOPLE)
def test_other_people_under_the_same_version_are_refused_and_under_a_new_one_measured_anew(folder, name):
    text, says = OTHER_PEOPLE[name]
    question = "SELECT COUNT(*) FROM visits"
    with adomnia.open(folder) as curator:
        first = curator.session("alice").sql(question, epsilon=0.5, request_id="mine")
    write(folder, PEOPLE, VISITS, text)
    with pytest.raises(Refusal, match=says) as refused:
        adomnia.open(folder)
    assert "raise `version` in catalog.toml" in refused.value.fix
    write(folder, PEOPLE, VISITS, text.replace("version = 1", "version = 2"))
    with adomnia.open(folder) as curator:
        alice = curator.session("alice")
        assert not alice.sql(question, epsilon=0.5).replayed
        assert alice.answer("mine")["count"] == first["count"]
    write(folder, PEOPLE, VISITS)
    with adomnia.open(folder) as curator:
        assert curator.session("alice").sql(question, epsilon=0.5)["count"] == first["count"]


def test_another_cap_is_another_question(folder):
    question = "SELECT COUNT(*) FROM visits"
    with adomnia.open(folder) as curator:
        curator.session("alice").sql(question, epsilon=0.5)
    write(folder, PEOPLE, VISITS, CATALOG.replace("rows_per_person = 3", "rows_per_person = 2"))
    with adomnia.open(folder) as curator:
        assert not curator.session("alice").sql(question, epsilon=0.5).replayed


def test_the_package_has_its_names_and_no_others():
    assert adomnia.protect is adomnia.session.own_session.protect
    assert adomnia.Question("x").text == "x"
    with pytest.raises(AttributeError, match="nonsense"):
        _ = adomnia.nonsense


# What a retry of the request that was cut finds: nothing (it is paid for now), a failure, or the answer.
CUTS = {"reserve-written": None, "reserve-durable": Failure, "answer-written": Failure, "answer-durable": "replayed"}


@pytest.mark.parametrize("failpoint", CUTS)
def test_killed_anywhere_nothing_was_answered_unpaid_and_nothing_runs_twice(folder, failpoint):
    process = child("crash", folder, failpoint)
    said = process.communicate(timeout=HANG_SECONDS)[0].splitlines()
    assert process.returncode == KILLED
    assert len(said) == 1
    with adomnia.open(folder) as curator:
        session = curator.session("alice")
        assert curator.ledger.spent("alice").epsilon_units == (25 if CUTS[failpoint] is None else 50) * 10**10
        assert f"answered {session.sql(COUNT, epsilon=0.25)['count'][0]}" == said[0]
        if CUTS[failpoint] is Failure:
            with pytest.raises(Failure):
                session.sql("SELECT COUNT(*) FROM visits", epsilon=0.25, request_id="cut")
        else:
            answer = session.sql("SELECT COUNT(*) FROM visits", epsilon=0.25, request_id="cut")
            assert answer.replayed == (CUTS[failpoint] == "replayed")
        assert curator.ledger.spent("alice").epsilon_units == 50 * 10**10
        curator.ledger.verify()


def test_two_processes_on_one_ledger_spend_exactly_the_budget(folder):
    adomnia.open(folder).close()
    racers = [child("race", folder, name) for name in ("one", "other")]
    assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 2
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    granted = [int(racer.communicate(timeout=HANG_SECONDS)[0]) for racer in racers]
    assert sum(granted) == 20
    with adomnia.open(folder) as curator:
        assert curator.ledger.left("carol").epsilon == 0
        curator.ledger.verify()


CANARIES = [f"canary{k:03}{(k * 7919) % 1000:03}" for k in range(200)]
QUESTIONS = [
    COUNT,
    "SELECT sex, COUNT(*), SUM(salary), AVG(age) FROM people GROUP BY sex",
    "SELECT COUNT(*) FROM people WHERE name LIKE 'canary%' AND 1 / (salary - 50000) > 0",
    "SELECT COUNT(name), COUNT(eye_color) FROM people WHERE name <> eye_color",
    "SELECT COUNT(diagnosis), COUNT(DISTINCT person_id) FROM visits WHERE diagnosis LIKE '%a%'",
    "SELECT name, COUNT(*) FROM people GROUP BY name",
    "SELECT COUNT(*) FROM people p JOIN cities c ON p.name = c.city",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.person_id = v.person_id AND v.diagnosis = p.name",
    "SELECT COUNT(n) FROM (SELECT person_id, diagnosis AS n FROM visits GROUP BY person_id, diagnosis)",
    "SELECT COUNT(*) FROM people WHERE person_id IN (SELECT person_id FROM visits WHERE diagnosis LIKE 'c%')",
    "SELECT AVG(LENGTH(name)) FROM people p WHERE (SELECT COUNT(*) FROM visits v WHERE v.person_id = p.person_id) > 0",
    "SELECT city FROM cities WHERE city IN (SELECT name FROM people)",
    "SELECT name FROM people JOIN cities ON people.name = cities.city",
    "SELECT SUM(name) FROM people",
    "SELECT COUNT(*) FROM people WHERE nmae = 'x'",
    "SELECT COUNT(*) FROM people WHERE CAST(name AS INTEGER) > 0",
    "SELECT MAX(name) FROM people",
]


def test_values_are_never_in_logs_errors_answers_or_files_outside_the_state(tmp_path, caplog, capfd, monkeypatch):
    """200 planted canaries, 0 hits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    people = [
        person(k, name=canary, eye_color=canary[::-1], sex="F", salary=float("nan") if k % 9 == 0 else 5e4, age=1.0)
        for k, canary in enumerate(CANARIES)
    ]
    visits = [visit(k, diagnosis=canary, hospital=canary, cost=1.0) for k, canary in enumerate(CANARIES)]
    visits.append(visit(0, hospital="H1"))  # without one that is declared, nothing would open
    folder = write(tmp_path / "hospital", people, visits)
    said = []
    with caplog.at_level(logging.DEBUG), adomnia.open(folder) as curator:
        session = curator.session("bob")
        for text in QUESTIONS:
            try:
                answer = session.sql(text, epsilon=1)
                said += [
                    repr(answer),
                    answer._repr_html_(),
                    str(answer.records()),
                    repr(session.price(text, epsilon=1)),
                ]
            except AdomniaError as error:
                said += [repr(error), "".join(traceback.format_exception(error))]
    said += [caplog.text, *capfd.readouterr()]
    outside = [
        path.read_bytes().decode("latin-1")
        for path in tmp_path.rglob("*")
        if path.is_file() and path.suffix != ".parquet" and not path.name.startswith("index-")
    ]
    everything = "\n".join(said + outside)
    assert [canary for canary in CANARIES if canary in everything or canary[::-1] in everything] == []
    assert (folder / ".adomnia").stat().st_mode & 0o077 == 0


def test_the_search_for_canaries_finds_one_that_is_there(tmp_path):
    """Otherwise it proves nothing: the index itself holds text as it is."""
    folder = write(tmp_path / "hospital", [person(1, name=CANARIES[0])], [])
    adomnia.open(folder).close()
    (index,) = (folder / ".adomnia").glob("index-*")
    assert CANARIES[0].encode() in index.read_bytes()
