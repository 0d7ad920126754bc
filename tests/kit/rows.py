"""Strategies for rows of the hospital: few people, many rows of one, NULL, what is out of bounds, rows of nobody."""

from __future__ import annotations

from datetime import date
from math import inf, nan
from typing import Any

from hypothesis import strategies as st

from kit.hospital import CITIES, Rows, item, person, visit

PEOPLE = (1, 2, 3)
ORPHAN = 99  # has visits, and no row among the people
FAR = (nan, inf, -inf, 1e308, -1e308, 5e-324, -0.0, 0.0)

_money = st.sampled_from([*FAR, 1.0, 0.125, 0.3, 50_000.0, 499_999.875, 500_000.0, 1e6, -7.0, 2.0**53 + 1]) | st.none()
_small = st.sampled_from([*FAR, -1.5, -1.46, 2.25, 2.2, 0.05, 1.0]) | st.none()
_ages = st.sampled_from([*FAR, 0.0, 1.0, 17.0, 18.0, 64.5, 119.5, 120.0, 200.0, -3.0]) | st.none()
_truth = st.sampled_from([None, False, True])
_words = st.sampled_from(
    [None, "", "Ann Lee", "Bo", "naïve", "%", "a_b", "x" * 40, " 12.5", "12.5", "true", "2020-01-02"]
)
_days = st.dates(date(2019, 12, 30), date(2020, 1, 3)) | st.sampled_from([None, date(1, 1, 1), date(9999, 12, 31)])

_people = {
    "name": _words,
    "age": _ages,
    "sex": st.sampled_from([None, "F", "M", "X", "rare", ""]),
    "city": st.sampled_from([None, *CITIES[:2], "Atlantis"]),
    "salary": _money,
    "eye_color": _words,
    "member": _truth,
    "score": _small,
    "weight": _money,
}
_visits = {
    "visit_id": st.none() | st.integers(0, 3),
    "hospital": st.sampled_from([None, "H1", "H2", "H9"]),
    "day": _days,
    "diagnosis": _words,
    "cost": _money,
    "urgent": _truth,
}
_items = {
    "kind": st.sampled_from([None, "drug", "test", "rare"]),
    "price": st.sampled_from([None, nan, inf, -12.0, 0.5, 1.5, 2.4999, 249.6, 100.0]),
    "amount": st.sampled_from([None, -7.0, -1.0, 0.5, 3.0, 20.0, 1e9]),
    "bought": _days,
}
_someone = st.sampled_from([*PEOPLE, *PEOPLE, ORPHAN, None])
_copies = st.sampled_from([1, 1, 1, 2, 5])


def _rows(make: Any, whose: Any, columns: dict[str, Any]) -> Any:
    return st.builds(lambda who, row: make(who, **row), whose, st.fixed_dictionaries(columns))


def _repeated(rows: Any, least: int, most: int) -> Any:
    """Rows of which some have copies."""
    listed = st.lists(st.tuples(rows, _copies), min_size=least, max_size=most)
    return listed.map(lambda some: [row for row, copies in some for _ in range(copies)])


databases = st.tuples(
    st.lists(_rows(person, _someone, _people), max_size=5), _repeated(_rows(visit, _someone, _visits), 0, 8)
)


def _numbered(files: tuple[Rows, Rows, Rows]) -> dict[str, Rows]:
    """Every visit with an id of its own, or none: what items are linked to must be unique."""
    people, visits, items = files
    ids = [None if row["visit_id"] is None else number for number, row in enumerate(visits)]
    visits = [{**row, "visit_id": number} for row, number in zip(visits, ids, strict=True)]
    return {"people": people, "visits": visits, "items": items}


def _files(someone: Any, visited: Any, sizes: tuple[tuple[int, int], ...]) -> Any:
    """People, visits and items: whose they are, and how few and how many there may be."""
    (fewest, most), (least_visits, most_visits), (least_items, most_items) = sizes
    return st.tuples(
        st.lists(_rows(person, someone, _people), min_size=fewest, max_size=most),
        _repeated(_rows(visit, someone, _visits), least_visits, most_visits),
        _repeated(_rows(item, visited, _items), least_items, most_items),
    ).map(_numbered)


# Some have hardly anything in them, others something for every question.
linked_databases = st.one_of(
    _files(_someone, st.sampled_from([None, 0, 1, 2, 3, 4, 77]), ((0, 5), (0, 8), (0, 6))),
    _files(st.sampled_from(PEOPLE), st.sampled_from(range(7)), ((6, 9), (9, 14), (8, 12))),
    _files(st.sampled_from([*PEOPLE, ORPHAN]), st.sampled_from([*range(12), 77]), ((4, 6), (6, 9), (4, 8))),
)


def _within_caps(files: tuple[list[dict[str, Any]], ...]) -> dict[str, Rows]:
    """One row of each person, three visits and four items at most: nothing is left out, and nothing clamped."""
    people, visits, items = files
    people = [{**row, "person_id": who} for who, row in enumerate(people, 1)]
    visits = [{**row, "visit_id": place, "person_id": (1, 2, ORPHAN)[place % 3]} for place, row in enumerate(visits)]
    items = [{**row, "visit_id": (0, 1, 2, 3, 4, 5, 6, 7, 77, 78)[place]} for place, row in enumerate(items)]
    return {"people": people, "visits": visits, "items": items}


_plain_people = _people | {
    "name": _words.filter(lambda word: word not in ("12.5", " 12.5")),
    "age": st.sampled_from([None, 0.0, 17.0, 18.0, 50.0, 120.0]),
    "sex": st.sampled_from([None, "F", "M", "X"]),
    "city": st.sampled_from([None, *CITIES[:2]]),
    "salary": st.sampled_from([None, 0.25, 50_000.0, 499_999.75]),
    "score": st.sampled_from([None, -1.5, 0.5, 2.0]),
    "weight": st.sampled_from([None, 0.5, 70.0, -3.0]),
}
_plain_visits = _visits | {
    "hospital": st.sampled_from([None, "H1", "H2"]),
    "day": st.dates(date(2019, 12, 30), date(2020, 1, 3)) | st.none(),
    "cost": st.sampled_from([None, 0.0, 0.5, 18.0, 50_000.0]),
}
_plain_items = {
    "kind": st.sampled_from([None, "drug", "test"]),
    "price": st.sampled_from([None, -10.0, 1.0, 100.0]),
    "amount": st.sampled_from([None, -5.0, -1.0, 3.0, 20.0]),
    "bought": st.dates(date(2020, 1, 1), date(2020, 1, 3)) | st.none(),
}
plain_databases = st.tuples(
    st.lists(_rows(person, st.just(0), _plain_people), min_size=2, max_size=4),
    st.lists(_rows(visit, st.just(0), _plain_visits), min_size=5, max_size=9),
    st.lists(_rows(item, st.just(0), _plain_items), min_size=6, max_size=10),
).map(_within_caps)
