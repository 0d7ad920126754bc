"""Writes the data of the hospital beside its catalog: made-up people, visits, bills and cities, the same every time.

    python examples/hospital/generate.py [FOLDER]

The data is as untidy as real data: missing values, people without visits, people with dozens, a few visits whose person
is missing or unknown, a few items whose visit is, a few salaries, costs and prices above the declared bounds, a few
cities that are on no list.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

if TYPE_CHECKING:
    from numpy.typing import NDArray

PEOPLE, VISITS, CITIES = 20_000, 80_000, 40
SEED = 19_650_314  # example data, not noise: noise is never seeded

REGIONS = ("North", "East", "South", "West")
FIRST_DAY, DAYS = np.datetime64("2022-01-01"), 3 * 365
EYES = {"brown": 0.55, "blue": 0.27, "green": 0.09, "hazel": 0.07, "grey": 0.02}

# name: how common it is at 45, how steeply it grows with age, the usual cost of a visit
DIAGNOSES = {
    "common cold": (10.0, -0.45, 90),
    "injury": (5.0, -0.35, 700),
    "asthma": (2.5, -0.25, 260),
    "allergy": (3.0, -0.30, 120),
    "depression": (2.5, -0.05, 340),
    "back pain": (4.0, 0.10, 210),
    "hypertension": (3.5, 0.55, 180),
    "diabetes": (2.5, 0.50, 420),
    "arthritis": (1.5, 0.65, 380),
    "heart disease": (1.0, 0.85, 5_200),
    "cancer": (0.7, 0.70, 9_500),
    "dementia": (0.1, 1.40, 2_400),
}

# kind of item: how common it is on a bill, its usual price
ITEMS = {
    "consultation": (0.35, 80),
    "medication": (0.30, 45),
    "laboratory": (0.20, 110),
    "imaging": (0.10, 480),
    "surgery": (0.05, 2_600),
}
ITEMS_PER_VISIT = 0.5


def generate(folder: Path) -> None:
    """Write people.parquet, visits.parquet, items.parquet and cities.csv into a folder."""
    draw = np.random.default_rng(SEED)
    cities = make_cities(draw)
    people = make_people(draw, cities)
    csv.write_csv(cities, folder / "cities.csv")
    parquet.write_table(people, folder / "people.parquet")
    visits = make_visits(draw, people)
    parquet.write_table(visits, folder / "visits.parquet")
    parquet.write_table(make_items(draw, visits), folder / "items.parquet")


def make_cities(draw: np.random.Generator) -> pa.Table:
    """Forty cities, few of them large, ten in each region."""
    names = distinct(
        draw, ["Al", "Ber", "Cas", "Dor", "El", "Fal", "Gren", "Hol"], ["ham", "vik", "mora", "stad", "ton"]
    )
    population = np.sort(900_000 / np.arange(1, CITIES + 1) ** 0.9 * draw.uniform(0.8, 1.2, CITIES))[::-1]
    return pa.table(
        {
            "city": names[:CITIES],
            "region": np.resize(REGIONS, CITIES),
            "population": population.astype(np.int64),
        }
    )


def make_people(draw: np.random.Generator, cities: pa.Table) -> pa.Table:
    """One row a person; salaries are lognormal, rise until 55 and fall in retirement, and children have none."""
    age = np.clip(
        np.where(draw.random(PEOPLE) < 0.75, draw.normal(38, 20, PEOPLE), draw.normal(68, 13, PEOPLE)), 0, 104
    )
    age = age.astype(np.int64)
    career = 1 - ((np.minimum(age, 65) - 55) / 40) ** 2 - 0.5 * (age > 66)
    salary = np.round(np.exp(draw.normal(10.3 + 0.6 * career, 0.55)) * np.where(draw.random(PEOPLE) < 0.001, 10, 1), 2)
    share = np.array(cities["population"]) / np.sum(cities["population"])
    city = np.where(draw.random(PEOPLE) < 0.002, "abroad", draw.choice(np.array(cities["city"]), PEOPLE, p=share))
    return pa.table(
        {
            "person_id": draw.permutation(np.arange(100_000, 100_000 + PEOPLE)),
            "name": make_names(draw),
            "age": sometimes_missing(draw, age, 0.01),
            "sex": sometimes_missing(draw, draw.choice(["F", "M", "X"], PEOPLE, p=[0.505, 0.485, 0.01]), 0.004),
            "city": sometimes_missing(draw, city, 0.005),
            "salary": pa.array(salary, mask=(age < 16) | (draw.random(PEOPLE) < 0.03)),
            "eye_color": sometimes_missing(draw, draw.choice(list(EYES), PEOPLE, p=list(EYES.values())), 0.02),
        }
    )


def make_visits(draw: np.random.Generator, people: pa.Table) -> pa.Table:
    """One row a visit: most people have a few, the old and the unlucky have dozens."""
    age = people["age"].fill_null(40).to_numpy()
    weight = draw.gamma(0.7, 1.0, PEOPLE) * (0.5 + age / 60)
    row = draw.choice(PEOPLE, VISITS, p=weight / weight.sum())
    person = people["person_id"].to_numpy()[row]
    person = np.where(draw.random(VISITS) < 0.001, person + 900_000, person)  # on no list of people
    diagnosis = diagnoses(draw, age[row])
    usual = np.array([cost for _, _, cost in DIAGNOSES.values()])[diagnosis]
    day = np.sort(draw.integers(0, DAYS, VISITS)).astype("timedelta64[D]") + FIRST_DAY
    return pa.table(
        {
            "visit_id": np.arange(1, VISITS + 1),
            "person_id": sometimes_missing(draw, person, 0.001),
            "hospital": draw.choice(["H1", "H2", "H3", "H4", "H5"], VISITS, p=[0.34, 0.26, 0.19, 0.13, 0.08]),
            "day": day,
            "diagnosis": sometimes_missing(draw, np.array(list(DIAGNOSES))[diagnosis], 0.02),
            "cost": sometimes_missing(draw, np.round(usual * np.exp(draw.normal(0, 0.8, VISITS)), 2), 0.01),
        }
    )


def make_items(draw: np.random.Generator, visits: pa.Table) -> pa.Table:
    """What the bills of visits list: many visits have none, some have several items."""
    listed = draw.negative_binomial(1, 1 / (1 + ITEMS_PER_VISIT), len(visits))
    visit = np.repeat(visits["visit_id"].to_numpy(), listed)
    rows = len(visit)
    share, usual = np.array(list(ITEMS.values())).T
    kind = draw.choice(len(ITEMS), rows, p=share)
    return pa.table(
        {
            "item_id": np.arange(1, rows + 1),
            "visit_id": sometimes_missing(draw, np.where(draw.random(rows) < 0.001, visit + 10_000_000, visit), 0.001),
            "kind": sometimes_missing(draw, np.array(list(ITEMS))[kind], 0.01),
            "price": sometimes_missing(draw, np.round(usual[kind] * np.exp(draw.normal(0, 0.5, rows)), 2), 0.01),
        }
    )


def diagnoses(draw: np.random.Generator, age: NDArray[Any]) -> NDArray[Any]:
    """The position of a diagnosis for each age: P grows or falls exponentially with age, at a rate of its own."""
    common, steepness, _ = np.array(list(DIAGNOSES.values())).T
    weight = np.cumsum(common * np.exp(np.outer((age - 45) / 15, steepness)), axis=1)
    return (draw.random(len(age))[:, None] * weight[:, -1:] > weight).sum(axis=1)


def make_names(draw: np.random.Generator) -> NDArray[Any]:
    """First and last names of made-up syllables; many people share one."""
    first = distinct(draw, ["Ka", "Lo", "Mi", "Ne", "Ori", "Pel", "Sa", "Tu"], ["ra", "lin", "ma", "nor", "vi", "do"])
    last = distinct(
        draw, ["Bran", "Del", "Fen", "Gor", "Hal", "Jor", "Mar", "Wen"], ["dale", "sted", "rik", "low", "by"]
    )
    names = np.char.add(np.char.add(draw.choice(first, PEOPLE), " "), draw.choice(last, PEOPLE))
    names[0] = "Ann Lee"
    return names


def distinct(draw: np.random.Generator, beginnings: list[str], endings: list[str]) -> NDArray[Any]:
    """Every beginning with every ending, shuffled."""
    return draw.permutation([beginning + ending for beginning in beginnings for ending in endings])


def sometimes_missing(draw: np.random.Generator, values: NDArray[Any], share: float) -> pa.Array:
    """The values, a share of them replaced by NULL."""
    return pa.array(values, mask=draw.random(len(values)) < share)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
