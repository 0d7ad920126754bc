"""The same answers on every surface: values, ends of intervals, and what is said where a number is missing.

What programs read (records, data frames, JSON, CSV, Arrow, the client) is what was released, to the last digit. What
people read (the terminal, a notebook, the console) is the same rounded: ends outwards, what is never negative from 0.
"""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from adomnia.cli import answers
from adomnia.plans.columns import ValueColumn, name_ends
from adomnia.session import display
from kit import hospital
from kit.connected import connect_at_once
from kit.house import DATASET, PASSWORD, opened
from kit.methods import PEOPLE, VISITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.session.answer import Answer
    from kit.house import House

NAME = "bob"
_LITTLE, _MUCH = 0.001, 50.0  # of epsilon: an answer that is all noise, and one that is nearly exact
TEXTS = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT city, COUNT(*) AS n FROM people GROUP BY city",
    "SELECT city, sex, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY city, sex",
    "SELECT SUM(salary) AS total, AVG(age) AS age FROM people",
    "SELECT sex, SUM(score) AS total, AVG(score) AS mean FROM people GROUP BY sex",
    "SELECT MEDIAN(salary) AS middle FROM people",
    "SELECT sex, MEDIAN(age) AS middle, MIN(age) AS least FROM people GROUP BY sex",
    "SELECT VAR_POP(salary) AS spread, STDDEV(age) AS deviation FROM people",
    "SELECT sex, CORR(age, salary) AS r FROM people GROUP BY sex",
    "SELECT COUNT(*) / (COUNT(salary) - COUNT(salary)) AS nothing, COUNT(*) - 100000 AS below FROM people",
    "SELECT AVG(CASE WHEN member THEN 1 ELSE 0 END) AS share, 1e15 * COUNT(*) AS many FROM people",
    "SELECT MAX(day) AS last FROM visits",
    "SELECT * FROM lm(people, formula => 'salary ~ age')",
    "SELECT * FROM quantiles(people, column => salary, probs => (0.25, 0.5))",
    "SELECT * FROM frequencies(people, factor => city)",
]
ASKED = [(text, epsilon) for text in TEXTS for epsilon in (_LITTLE, _MUCH)]
every_answer = pytest.mark.parametrize("asked", ASKED, ids=[f"{place // 2}-{place % 2}" for place in range(len(ASKED))])


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Iterator[House]:
    def write(folder, text):
        bounded = '{ type = "date", lower = 2020-01-01, upper = 2029-12-31 }'
        return hospital.write(folder, PEOPLE, VISITS, text.replace('day = { type = "date" }', f"day = {bounded}"))

    with opened(tmp_path_factory.mktemp("same"), write=write) as found:
        found.services.access.set_password(NAME, PASSWORD)
        yield found


@pytest.fixture(scope="module")
def found(house) -> dict[tuple[str, float], Answer]:
    """The answers in process, each paid for once."""
    with house.services.dataset.curator() as curator:
        session = curator.session(NAME)
        return {(text, epsilon): session.sql(text, epsilon=epsilon) for text, epsilon in ASKED}


def released(answer: Answer) -> list[dict[str, Any]]:
    """What was released, by name and row: None where no number is shown, and ends that are there."""
    return [{name: plain(value) for name, value in row.items()} for row in answer.records()]


def plain(value: Any) -> Any:
    """A value of any surface for programs: of one kind each, and None where there is nothing."""
    if value is None or value == "" or (isinstance(value, float) and not isfinite(value)):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()[:10]
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def list_rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, map(plain, row), strict=True)) for row in zip(*columns.values(), strict=True)]


@every_answer
def test_programs_read_what_was_released(found, asked, house):
    answer = found[asked]
    wanted = [{name: plain(value) for name, value in row.items()} for row in released(answer)]
    assert list_rows({name: list(column) for name, column in answer.to_pandas().items()}) == wanted
    assert list_rows(answer.to_polars().to_dict(as_series=False)) == wanted
    assert list_rows(answer.to_arrow().to_pydict()) == wanted
    text, epsilon = asked
    reply = house.query(NAME, text, epsilon=epsilon).json()
    assert reply["replayed"]
    told: dict[str, list[Any]] = {}
    ends = name_ends(answer.typed_columns)
    for column in reply["columns"]:
        told[column["name"]] = column["values"]
        if column["kind"] == "value":
            told |= dict(zip(ends[column["name"]], (column["lower"], column["upper"]), strict=True))
            missing = column.get("missing", [None] * len(column["values"]))
            assert [word is None for word in missing] == [value is not None for value in column["values"]]
    assert list_rows(told) == wanted
    place = f"/answers/{answer.receipt.request_id}/export?form="
    cookie, _ = house.visit(NAME)
    files = {form: house.client.request("GET", place + form, headers=cookie) for form in ("csv", "json", "parquet")}
    assert [{k: plain(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(files["csv"].text))] == wanted
    assert files["json"].json()["columns"] == reply["columns"]
    assert list_rows(pq.read_table(io.BytesIO(files["parquet"].content)).to_pydict()) == wanted
    arrow = house.ask(NAME, "GET", f"{DATASET}/answers/{answer.receipt.request_id}?format=arrow")
    assert arrow.status_code in {200, 422}
    if arrow.status_code == 200 and arrow.headers["content-type"].startswith("application/vnd.apache"):
        assert list_rows(pyarrow.ipc.open_stream(arrow.content).read_all().to_pydict()) == wanted


@every_answer
def test_the_command_line_writes_what_was_released(found, asked, capsys):
    answer = found[asked]
    answers.print_csv(answer)
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [{name: plain(value) for name, value in row.items()} for row in rows] == released(answer)


@every_answer
def test_people_read_the_same_cells_everywhere(found, asked, house, capsys):
    answer = found[asked]
    headings, rows = display.format_table(answer)
    with connect_at_once(house, NAME) as client:
        received = client.answer(answer.receipt.request_id)
    assert display.format_table(received) == (headings, rows)
    assert received.records() == answer.records()
    answers.print_table(answer)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split() for line in printed[2 : 2 + len(rows)]] == [" ".join(row).split() for row in rows]
    text = repr(answer).splitlines()
    assert [line.split() for line in text[2 : 2 + len(rows)]] == [" ".join(row).split() for row in rows]
    cookie, _ = house.visit(NAME)
    page = house.client.request("GET", f"/answers/{answer.receipt.request_id}", headers=cookie)
    assert read_cells(page.text) == rows


@every_answer
def test_what_people_read_is_what_was_released_rounded_outwards(found, asked):
    answer = found[asked]
    _, rows = display.format_table(answer)
    ends = name_ends(answer.typed_columns)
    place = 0
    for column in answer.typed_columns:
        if not isinstance(column, ValueColumn):
            place += 1
            continue
        for row, record in zip(rows, answer.records(), strict=True):
            low, high = (record[name] for name in ends[column.name])
            check_cell(row[place], row[place + 1], (record[column.name], low, high), column)
        place += 2


def check_cell(shown: str, interval: str, exact: tuple[Any, Any, Any], column: ValueColumn) -> None:
    value, low, high = exact
    if column.estimate.dates:
        if value is None:
            assert (shown, interval) == ("uninformative", "2020-01-01 to 2029-12-31")
            return
        assert (shown, interval) == (value.isoformat(), f"{low.isoformat()} to {high.isoformat()}")
        return
    least, most = column.estimate.possible or (-inf, inf)
    low, high = (-inf if low is None else low), (inf if high is None else high)
    whole = low <= least and high >= most and least < most
    if value is None:
        assert shown == "not estimable" or (whole and shown == "uninformative")
        return
    assert not whole
    stops = least == 0 and high >= 0
    shown_low, shown_high = read_interval(interval)
    assert shown_low <= (max(low, 0) if stops else low)
    assert shown_high >= high
    assert not stops or (shown_low >= 0 and number(shown) >= 0)
    # Two digits of the half-width: what is rounded is less than a tenth of it.
    width = shown_high - shown_low
    if isfinite(width) and width > 0:
        assert abs(number(shown) - (max(value, 0) if stops else value)) <= 0.06 * width + 1e-6 * abs(value)


def read_interval(text: str) -> tuple[float, float]:
    if " to " in text and not text.startswith("up to"):
        low, _, high = text.partition(" to ")
        return number(low), number(high)
    if text.startswith("up to "):
        return -inf, number(text.removeprefix("up to "))
    return (number(text.removeprefix("from ").removesuffix(" on")), inf) if text.startswith("from ") else (-inf, inf)


def number(text: str) -> float:
    found = float(text.replace(",", ""))
    assert not isnan(found)
    return found


def read_cells(html: str) -> list[list[str]]:
    """The rows of the answer's table on a page: what is written for a wide screen, without pictures."""
    reader = _Cells()
    reader.feed(html)
    return [[" ".join("".join(cell).split()) for cell in row] for row in reader.rows if row]


class _Cells(HTMLParser):
    """Cells of the body of the table of answers."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[list[str]]] = []
        self._inside = self._cell = False
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kinds = (dict(attrs).get("class") or "").split()
        if tag == "table" and "answer-tbl" in kinds:
            self._inside = True
        elif self._inside and tag == "tr":
            self.rows.append([])
        elif self._inside and tag == "td" and not {"pbar", "axis-cell"} & set(kinds):
            self.rows[-1].append([])
            self._cell = True
        elif self._hidden or "narrow-only" in kinds:
            self._hidden += tag == "span"

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._inside = False
        elif tag == "td":
            self._cell = False
        elif self._hidden and tag == "span":
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        if self._inside and self._cell and not self._hidden:
            self.rows[-1][-1].append(data)


def test_some_answers_are_uninformative_and_some_are_cut_at_zero(found):
    """Or the tests above would not have met them."""
    words = {cell for answer in found.values() for row in display.format_table(answer)[1] for cell in row}
    assert {"uninformative", "not estimable", "0"} <= words
