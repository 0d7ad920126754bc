"""The bill says what is measured and by how much one person moves it."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console

from adomnia.cli import bills, opening
from adomnia.privacy.events import from_record

BY_SEX = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY sex"


def shown(quote):
    with StringIO() as page:
        Console(file=page, width=200).print(bills.measurements(quote), bills.expectations(quote))
        return page.getvalue()


@pytest.fixture
def quoted(hospital):
    def quote(text: str, **payment: object):
        with opening.open_mock_folder(hospital) as curator:
            return opening.open_session(curator, None).price(text, **payment)

    return quote


def test_the_record_adds_up_to_the_price(quoted, capsys):
    bills.print_json(quoted("SELECT COUNT(*), AVG(age) FROM people", epsilon=0.6))
    record = json.loads(capsys.readouterr().out)
    paid = [from_record(line["price"]).epsilon for line in record["measurements"]]
    assert sum(paid) == from_record(record["price"]).epsilon


def test_an_error_that_depends_on_the_size_of_a_group_says_which_size(quoted):
    count, mean = quoted("SELECT COUNT(*), AVG(age) FROM people", epsilon=0.6).outputs
    assert (count.rows, mean.rows) == (None, 1000)
    assert 0 < count.error == 1000 * count.relative


def test_an_error_that_is_not_known_is_told_in_both_forms(hospital):
    with opening.open_dataset(hospital) as curator:
        text = "SELECT SUM(salary) / (COUNT(*) - COUNT(age)) AS x FROM people"
        quote = opening.open_session(curator, None).price(text, epsilon=0.5)
    assert len(quote.outputs) == 1
    assert "unbounded" in shown(quote)
    assert bills.as_record(quote)["outputs"][0]["error"] is None


def test_errors_are_told_relative_to_a_group_and_for_which_groups(quoted):
    page = shown(quoted(BY_SEX, epsilon=0.6))
    assert "Error in each group, 95% of the time" in page
    assert "%" in page
    assert "any size" in page
    assert "Relative, in 1,000 rows" in page
    assert "Error in all groups at once" in shown(quoted(BY_SEX, epsilon=0.6, simultaneous=True))


def test_the_record_of_a_batch_has_no_single_price(quoted):
    record = bills.as_record(quoted([BY_SEX, "SELECT COUNT(*) FROM people"], epsilon=0.6))
    assert record["price"] is None
    assert [output["name"] for output in record["outputs"]] == ["1: n", "1: mean", "2: count"]
    assert record["outputs"][0]["method"] == "noisy distances from both ends of the bounds, measured as one"
