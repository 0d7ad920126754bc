"""Formats of dates write what the engine writes, and every field that is offered is known."""

from __future__ import annotations

from datetime import date, timedelta

import duckdb
import pytest

from adomnia.sql.values.date_formats import FIELDS, QUARTER, is_format, rank_days, translate_words, write_date

DAYS = [date.min, date(4, 2, 29), date(999, 12, 31), date(1969, 12, 31), date(2020, 2, 29), date(2021, 1, 3), date.max]


def test_every_field_writes_what_the_engine_writes():
    fields = [each for each in FIELDS.split(", ") if each != QUARTER]
    days = [*DAYS, *(date(2018, 12, 20) + timedelta(13 * place) for place in range(300))]
    with duckdb.connect() as connection:
        for written in (*fields, "%%", "%Y-W%V ".join(fields)[:64].rstrip("%")):
            assert is_format(written)
            ask = "SELECT STRFTIME(UNNEST($1::DATE[]), $2)"
            found = connection.execute(ask, [days, written]).fetchall()
            assert [each for (each,) in found] == [write_date(day, written) for day in days], written


@pytest.mark.parametrize("written", ["", "%", "%H", "%-d", "%Y%", "x" * 65])
def test_other_formats_are_none(written):
    assert not is_format(written)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("YYYY-MM-DD", "%Y-%m-%d"),
        ('IYYY"-W"IW', "%G-W%V"),
        ("FMDay, DD. FMMonth", "%A, %d. %B"),
        ("Dy DDD ID Mon", "%a %j %u %b"),
        ("YYYY-Q", "%Y-%q"),
        ('"50%"', "50%%"),
        ('""', ""),
        ("", ""),
        ("Month", None),
        ("HH24", None),
        ("yyyy", None),
        ('"open', None),
    ],
)
def test_words_of_to_char_become_fields(written, expected):
    assert translate_words(written) == expected


def test_dates_are_sorted_by_the_calendar_or_from_their_coarsest_field_on():
    days = [date(2023, 12, 31), date(2024, 1, 1), date(2024, 1, 2)]
    assert sorted(days, key=rank_days("%B %Y")) == days
    assert sorted(days, key=rank_days("%B")) == [*days[1:], days[0]]
    assert max(days, key=rank_days("%A")) == date(2023, 12, 31)
    assert sorted(days, key=rank_days("%V-%j-%d")) == [*days[1:], days[0]]
