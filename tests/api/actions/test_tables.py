from __future__ import annotations

import pytest

from adomnia.api.actions.tables import read_public
from adomnia.errors import Refusal
from kit import hospital
from kit.visits import visit_as_owner


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM people",
        "SELECT p.age FROM people AS p",
        "SELECT c.city FROM cities AS c JOIN people AS p ON c.city = p.city",
        "SELECT * FROM visits",
    ],
)
def test_whoever_is_signed_in_reads_public_tables_and_nothing_about_people(tmp_path, text):
    with hospital.curated(hospital.declare(tmp_path), [hospital.person(1)], []) as curator:
        visit = visit_as_owner(curator)
        (cities,) = read_public(visit, "SELECT city FROM cities")
        assert set(cities.values) == set(hospital.CITIES)
        with pytest.raises(Refusal):
            read_public(visit, text)
        assert curator.ledger.account().spent.rho_units == 0
