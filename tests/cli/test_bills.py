"""The bill says what is measured and by how much one person moves it."""

from __future__ import annotations

import json

import pytest

from adomnia.cli import bills, opening
from adomnia.privacy.events import from_record

BY_HOSPITAL = "SELECT hospital, COUNT(DISTINCT person_id) FROM visits GROUP BY hospital"


@pytest.fixture
def quoted(hospital):
    def quote(text: str, **payment: object):
        with opening.rehearsal(hospital) as curator:
            return opening.session(curator, None).price(text, **payment)

    return quote


def test_gaussian_noise_is_told_by_its_deviation_and_the_euclidean_norm(quoted):
    (line,) = quoted(BY_HOSPITAL, rho=0.5).measurements
    assert bills.moved(line) == "2.23607"
    assert bills.noise(line) == "Gaussian, deviation 2.23607"


def test_laplace_noise_is_told_by_its_scale_and_the_sum_of_moves(quoted):
    (line,) = quoted(BY_HOSPITAL, epsilon=0.5).measurements
    assert bills.moved(line) == "5"
    assert bills.noise(line) == "Laplace, scale 10"


def test_the_record_adds_up_to_the_price(quoted, capsys):
    bills.print_json(quoted("SELECT COUNT(*), AVG(age) FROM people", epsilon=0.6))
    record = json.loads(capsys.readouterr().out)
    paid = [from_record(line["price"]).epsilon for line in record["measurements"]]
    assert sum(paid) == from_record(record["price"]).epsilon


def test_an_error_that_depends_on_the_size_of_a_group_says_which_size(quoted):
    count, mean = quoted("SELECT COUNT(*), AVG(age) FROM people", epsilon=0.6).outputs
    assert (count.rows, mean.rows) == (None, 1000)
    assert bills.expected_error(count) == "at most 15"


def test_an_error_that_is_not_known_is_told_in_both_forms(hospital):
    with opening.dataset(hospital) as curator:
        text = "SELECT SUM(salary) / (COUNT(*) - COUNT(age)) AS x FROM people"
        quote = opening.session(curator, None).price(text, epsilon=0.5)
    (output,) = quote.outputs
    assert bills.expected_error(output) == "unbounded"
    assert bills.as_record(quote)["outputs"][0]["error"] is None
