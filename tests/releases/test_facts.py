"""What readers of a release are told follows from what was paid and declared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Budget
from adomnia.releases.facts import ReleaseFacts, describe_guarantee, describe_making, hash_catalog
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


def test_how_it_was_made_begins_the_guarantee(catalog):
    event = Concentrated(0.5)
    assert describe_guarantee(event, catalog) == f"{describe_making(event, catalog)} {catalog.unit.promise()}"


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


def test_facts_are_the_same_once_they_were_written_and_read_also_those_of_other_versions():
    told = {"mechanism": "marginals", "version": 2, "confidence": 0.9, "private": False, "colour": "blue"}
    facts = ReleaseFacts.from_record(told)
    assert (facts.mechanism, facts.version, facts.private, facts.made_by) == ("marginals", 2, False, None)
    assert facts.to_record() == told
    assert ReleaseFacts.from_record(facts.to_record()) == facts


def test_what_a_stranger_wrote_is_no_fact_where_it_is_of_another_kind():
    told = {"version": "2", "price": 3, "confidence": True, "private": True, "made_by": "../bob"}
    facts = ReleaseFacts.from_record(told)
    assert (facts.version, facts.price, facts.confidence, facts.buyer) == (None, None, None, None)
    assert facts.to_record() == {"made_by": "../bob", "private": True, "version": "2", "price": 3, "confidence": True}
    assert ReleaseFacts(made_by="bob", private=True).buyer == "bob"
    assert ReleaseFacts(made_by="bob").buyer is None
