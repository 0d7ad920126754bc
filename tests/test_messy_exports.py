"""Exports as they come, from files to a first answer: what a draft proposes to hide is a person, or it asks.

Each interval has confidence 1 - 1e-11: by chance all of these tests together fail in less than one of 1e9 runs.
"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import duckdb
import pytest

from kit.owner import BUDGET, Owner

WARDS = ("Innere", "Geburtshilfe", "Chirurgie")


@pytest.fixture
def owner(tmp_path, monkeypatch, capsys):
    return Owner(tmp_path, monkeypatch, capsys)


@pytest.fixture
def hospital(owner):
    """Cases and findings of 150 patients, as a German program writes them: about four of each, no table of people."""
    draw = random.Random(7)
    patients = [str(10_000 + 7 * number) for number in range(150)]
    cases = [(f"F-{case:05}", draw.choice(patients), draw.choice(WARDS), draw.randrange(1, 60)) for case in range(600)]
    lines = [f"{case};{patient};{ward};{days},5;{2 * days}" for case, patient, ward, days in cases]
    write(owner, "Fälle 2024.csv", "Fall-Nr.;Patienten-Nr.;Station;Größe (cm);Liegedauer", lines)
    findings = [f"{patient};{draw.choice(cases)[0]};{draw.randrange(3, 9)},1" for _, patient, _, _ in cases]
    write(owner, "labor.csv", "PATIENTENNR;Fall-Nr.;Kalium", findings)
    return cases


def write(owner, name, header, lines, encoding="latin-1"):
    (owner.folder / name).write_text("\n".join([header, *lines]) + "\n", encoding=encoding)


def read_catalog(owner):
    return (owner.study / "catalog.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("look", [(), ("--look",)])
def test_a_hospital_whose_patients_have_a_number_in_every_file(owner, hospital, look):
    owner.init(owner.folder / "Fälle 2024.csv", owner.folder / "labor.csv", *look)
    owner.edit(
        BUDGET,
        ('# unit = "Falle_2024.patienten_nr"', 'unit = "Falle_2024.patienten_nr"'),
        ('# person = "patientennr ->', 'person = "patientennr ->'),
        ("# rows_per_person = ?", "rows_per_person = 20"),
    )
    owner.check()
    assert [each for each in owner.inspect() if each["kind"] == "repeats"] == []
    patients = len({patient for _, patient, _, _ in hospital})
    owner.ask("SELECT COUNT(DISTINCT patienten_nr) AS answer FROM Falle_2024", patients, widest=300)


def test_a_hospital_that_hides_rows_or_cases_hears_that_patients_have_several(owner, hospital):
    owner.init(owner.folder / "Fälle 2024.csv")
    owner.edit(BUDGET, ('# unit = "Falle_2024.patienten_nr"', 'unit = "row"'))
    _, said, _ = owner.type("check", owner.study)
    plain = " ".join(said.split())
    assert "Hidden is the presence of one row of Falle_2024, not of one person" in plain
    assert '`Patienten-Nr.` looks like a key of people, and unit = "row" hides one row' in plain
    assert "A person" not in plain
    patients = len({patient for _, patient, _, _ in hospital})
    (mismatch,) = (each for each in owner.inspect() if each["kind"] == "repeats")
    assert f"This table has {600 / patients:.1f} rows for each value of `Patienten-Nr.`" in mismatch["says"]
    assert 'unit = "Falle_2024.patienten_nr"' in mismatch["fix"]
    owner.edit(('unit = "row"', 'unit = "Falle_2024.fall_nr"'), ('source = "', 'rows_per_person = 1\nsource = "'))
    owner.edit(('fall_nr = { column = "Fall-Nr.", type = "text"', 'fall_nr = { column = "Fall-Nr.", type = "id"'))
    (mismatch,) = (each for each in owner.inspect() if each["kind"] == "repeats")
    assert "values of `fall_nr` for each value of `Patienten-Nr.`" in mismatch["says"]


def test_customers_and_their_orders_named_in_the_wrong_order(owner):
    draw = random.Random(3)
    orders = [(number, draw.randrange(1, 121), round(draw.lognormvariate(3, 1), 2)) for number in range(700)]
    write(owner, "orders.csv", "Order No,CustomerID,amount", [f"{a},{b},{c}" for a, b, c in orders], "utf-8")
    duckdb.sql(
        "COPY (SELECT range AS id, 'EN' AS language FROM range(1, 121)) "
        f"TO '{owner.folder / 'customers.parquet'}' (FORMAT parquet)"
    )
    owner.init(owner.folder / "orders.csv", owner.folder / "customers.parquet")
    owner.edit(
        BUDGET,
        ('# unit = "customers.id"', 'unit = "customers.id"'),
        ('# person = "customer_id -> customers.id"', 'person = "customer_id -> customers.id"'),
        ("# rows_per_person = ?", "rows_per_person = 30"),
        ('amount = { type = "number" }', 'amount = { type = "number", lower = 0, upper = 500 }'),
    )
    owner.check()
    assert owner.inspect() == []
    owner.ask("SELECT COUNT(*) AS answer FROM orders", len(orders), widest=5_000)


def test_pupils_whose_number_is_spelled_in_two_ways(owner):
    write(owner, "Schüler.tsv", "Schüler-Nr.\tKlasse\tName", [f"{n}\t5b\tx" for n in range(30)])
    write(owner, "noten.csv", "Fach,SCHUELERNR,Note", [f"Kunst,{n % 30},2" for n in range(90)])
    owner.init(owner.folder / "noten.csv", owner.folder / "Schüler.tsv")
    owner.edit(
        BUDGET,
        ('# unit = "Schuler.schuler_nr"', 'unit = "Schuler.schuler_nr"'),
        ('# person = "schuelernr -> Schuler.schuler_nr"', 'person = "schuelernr -> Schuler.schuler_nr"'),
        ("# rows_per_person = ?", "rows_per_person = 20"),
    )
    owner.check()
    assert owner.inspect() == []


@pytest.mark.parametrize("look", [(), ("--look",)])
def test_a_survey_with_one_row_a_respondent_and_no_key(owner, look):
    draw = random.Random(5)
    rows = [(draw.randrange(18, 80), draw.randrange(1, 6), draw.randrange(1, 6)) for _ in range(400)]
    write(owner, "survey.csv", "age,Q1 (1-5),Q2 (1-5)", [f"{a},{b},{c}" for a, b, c in rows])
    owner.init(owner.folder / "survey.csv", *look)
    assert '"row" hides one row, not one person' in read_catalog(owner)
    column = f'q1_1_5 = {{ column = "Q1 (1-5)", type = "{"integer" if look else "text"}" }}'
    declared = 'q1_1_5 = { column = "Q1 (1-5)", type = "integer", lower = 1, upper = 5 }'
    owner.edit(BUDGET, ('# unit = "row"', 'unit = "row"'), (column, declared))
    owner.check()
    assert owner.inspect() == []
    owner.ask("SELECT AVG(q1_1_5) AS answer FROM survey", sum(each[1] for each in rows) / 400, widest=5)


TABLES = (
    "CREATE TABLE clients (id INTEGER, born INTEGER)",
    "CREATE TABLE orders (id INTEGER, client INTEGER, total REAL)",
    "CREATE TABLE items (order_id INTEGER, price REAL)",
)


def fill(execute):
    for statement in TABLES:
        execute(statement)
    for number in range(60):
        execute(f"INSERT INTO clients VALUES ({number}, {1950 + number % 40})")
    for number in range(200):
        execute(f"INSERT INTO orders VALUES ({number}, {number * 7 % 60}, 12.5)")
        execute(f"INSERT INTO items VALUES ({number * 3 % 200}, 2.5)")


@pytest.mark.parametrize(("kind", "look"), [("sqlite", ()), ("sqlite", ("--look",)), ("duckdb", ())])
def test_databases_with_tables_that_are_linked_one_to_the_next(owner, kind, look):
    path = owner.folder / f"shop.{kind}"
    with closing(sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))) as database:
        fill(database.execute)
        database.commit()
    owner.init(path, *look)
    owner.edit(
        BUDGET,
        ('# unit = "clients.id"', 'unit = "clients.id"'),
        ('# person = "client -> clients.id"', 'person = "client -> clients.id"'),
        ('# person = "order_id -> orders.id"', 'person = "order_id -> orders.id"'),
        ("# rows_per_person = ?", "rows_per_person = 20"),
    )
    owner.check()
    assert owner.inspect() == []
