"""A hospital with a few people in it, and sessions over it."""

from __future__ import annotations

from datetime import date

import pytest

from kit.hospital import curated, declare, person, visit

SALARIES = (10_000.0, 50_000.0, 90_000.0, 120_000.0, 499_999.0)
PEOPLE = [
    person(k, name=f"n{k}", age=20.0 + k, sex="FM"[k % 2], city="Oslo", salary=salary, member=k > 1)
    for k, salary in enumerate(SALARIES)
]
VISITS = [visit(k % 5, hospital=f"H{k % 4 + 1}", cost=100.0 * k, day=date(2020, 1, 1 + k)) for k in range(20)]


@pytest.fixture(scope="session")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("curator") / "hospital")


@pytest.fixture
def curator(catalog, request):
    """Nothing was asked yet, and its noise depends on the name of the test alone."""
    with curated(catalog, PEOPLE, VISITS, seed=request.node.name) as fresh:
        yield fresh


@pytest.fixture
def alice(curator):
    return curator.session("alice")


@pytest.fixture
def bob(curator):
    return curator.session("bob")


@pytest.fixture
def carol(curator):
    """She has an epsilon of 1 and no delta."""
    return curator.session("carol")
