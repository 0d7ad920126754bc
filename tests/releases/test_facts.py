"""What readers of a release are told follows from what was paid and declared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Budget
from adomnia.releases.facts import describe_guarantee, hash_catalog
from kit.hospital import declare


@pytest.fixture
def catalog(tmp_path):
    return declare(tmp_path / "hospital")


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Pure(0.5), "It was made with epsilon 0.5. Hidden is the presence of one person"),
        (Approximate(0.5, 1e-9), "It was made with epsilon 0.5 and delta 1e-9. Hidden"),
        (Concentrated(0.5), "rho 0.5 (zero-concentrated differential privacy; epsilon 5.22"),
        (Concentrated(0.5), "at delta 0.000001). Hidden"),
    ],
)
def test_the_guarantee_is_told_in_words(catalog, event, says):
    assert says in describe_guarantee(event, catalog)


def test_a_guarantee_in_rho_has_a_small_delta_where_the_budget_has_none(catalog):
    pure = replace(catalog, budget=Budget(epsilon=5))
    assert "at delta 1e-9)" in describe_guarantee(Concentrated(0.5), pure)


def test_the_hash_of_a_catalog_is_about_what_was_asked_and_not_about_who_may(catalog):
    same = replace(catalog, analysts=(), budget=Budget(epsilon=5))
    assert hash_catalog(same) == hash_catalog(catalog)
    assert hash_catalog(replace(catalog, version=2)) != hash_catalog(catalog)
    assert hash_catalog(replace(catalog, tables=catalog.tables[:-1])) != hash_catalog(catalog)
    one, *others = catalog.tables
    assert hash_catalog(replace(catalog, tables=(replace(one, rows_per_person=9), *others))) != hash_catalog(catalog)
