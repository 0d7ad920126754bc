"""Whatever a release answers of its bins is right wherever in them people are."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from adomnia.errors import Refusal
from adomnia.statistics.products import Attribute
from kit.asked_releases import NoisyTable, ask, make_release

FIRST = date(2020, 1, 1).toordinal() - 1
ATTRIBUTES = (
    Attribute("age", (*map(str, range(6)), None), "integer", tuple(10 * edge - 0.5 for edge in range(7))),
    Attribute("score", ("a", "b", "c", None), "number", (-1.0, 0.0, 0.5, 2.0)),
    Attribute("day", ("jan", "feb", "mar", None), "date", (FIRST - 0.5, FIRST + 30.5, FIRST + 59.5, FIRST + 90.5)),
    Attribute("sex", ("f", "m", None)),
)
AGES = (0, 9, 10, 15, 20, 25, 29.5, 30, 59, 60)
SCORES = (-1, -0.5, 0, 0.25, 0.5, 1, 2)
DAYS = ("2020-01-01", "2020-01-15", "2020-02-01", "2020-02-29", "2020-03-01", "2020-03-31")
SIGNS = ("<", "<=", ">", ">=", "=", "<>")
NUMBERS = {
    "age": ("age", "age + 1", "10 - age", "age / 10", "FLOOR(age / 10)", "FLOOR(age / 20) * 20", "ABS(age - 20)"),
    "score": ("score", "-score", "CEIL(score)", "ROUND(score)", "GREATEST(score, 0)", "score * score", "SQRT(score)"),
    "day": ("MONTH(day)", "YEAR(day)", "DAY(day)", "QUARTER(day)"),
}


def make_rows(generator: np.random.Generator, many: int) -> tuple[np.ndarray, pa.Table]:
    """Rows by their levels, and values that lie anywhere in their bins, at both ends most of all."""
    rows = np.stack([generator.integers(0, len(each), many) for each in ATTRIBUTES], axis=1)
    parts = generator.choice([0.0, 0.5, 1.0, 0.3], size=(many, 3))
    ages = [
        None if level == 6 else 10 * level + round(9 * part)
        for level, part in zip(rows[:, 0], parts[:, 0], strict=True)
    ]
    edges = ATTRIBUTES[1].edges
    scores = [
        None
        if level == 3
        else min(edges[level] + part * (edges[level + 1] - edges[level]), np.nextafter(edges[level + 1], -9))
        for level, part in zip(rows[:, 1], parts[:, 1], strict=True)
    ]
    starts, ends = (0, 31, 60), (30, 59, 90)
    days = [
        None
        if level == 3
        else date.fromordinal(FIRST + 1 + round(starts[level] + part * (ends[level] - starts[level])))
        for level, part in zip(rows[:, 2], parts[:, 2], strict=True)
    ]
    sexes = [ATTRIBUTES[3].levels[level] for level in rows[:, 3]]
    columns = {
        "age": pa.array(ages, pa.int64()),
        "score": pa.array(scores, pa.float64()),
        "day": pa.array(days),
        "sex": sexes,
    }
    return rows, pa.table(columns)


def draw_condition(generator: np.random.Generator, depth: int = 2) -> str:
    def pick(choices):
        return choices[generator.integers(len(choices))]

    if depth and generator.random() < 0.6:
        left, right = (draw_condition(generator, depth - 1) for _ in range(2))
        return pick(
            [f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})", f"CASE WHEN {left} THEN {right} END"]
        )
    column = pick(["age", "score", "day", "date", "sex", "null"])
    if column == "sex":
        return pick(["sex = 'f'", "sex <> 'm'", "sex IN ('f', 'm')"])
    if column == "null":
        return pick(["age IS NULL", "score IS NOT NULL", "age + 1 IS NULL", "SQRT(score) IS NULL", "day IS NULL"])
    if column == "date":
        return f"{pick(['day', chr(34) + 'day' + chr(34)])} {pick(SIGNS)} DATE '{pick(DAYS)}'"
    constants = {"age": AGES, "score": SCORES, "day": (1, 2, 15, 2020)}[column]
    return f"{pick(NUMBERS[column])} {pick(SIGNS)} {pick(constants)}"


def test_counts_by_bins_are_those_of_all_values_that_rows_may_have():
    generator = np.random.default_rng(11)
    rows, table = make_rows(generator, 400)
    counts = np.zeros([len(each) for each in ATTRIBUTES])
    np.add.at(counts, tuple(rows.T), 1)
    measured = make_release(NoisyTable(counts, 0.0), ATTRIBUTES)
    published = make_release(None, ATTRIBUTES, table, rows=rows)
    answered, codes = 0, set()
    for _ in range(100):
        text = f"SELECT COUNT(*) AS n FROM releases.people WHERE {draw_condition(generator)}"
        try:
            found = ask(text, measured)["n"]
        except Refusal as refused:
            codes.add(refused.code)
            continue
        assert found == [pytest.approx(ask(text, published)["n"][0])], text
        answered += 1
    assert 20 < answered < 80  # some are cut, and some are not
    assert codes == {"release_bins"}
