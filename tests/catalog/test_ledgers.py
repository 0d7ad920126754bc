"""What a catalog may say about where its budgets are kept, and about accounts that several datasets share."""

from __future__ import annotations

from pathlib import Path

import pytest

from adomnia.catalog.document import Document
from adomnia.catalog.ledgers import read_ledger
from adomnia.catalog.model import SharedLedger
from adomnia.errors import Refusal
from adomnia.privacy.filters import Budget

URL = "postgresql://db.example.org/ledgers"


def read(**content):
    return read_ledger(Document(Path("catalog.toml"), "", content), "Hospital")


def test_without_a_section_the_ledger_is_a_file():
    assert read() is None


def test_a_schema_is_named_after_the_dataset_or_by_the_owner():
    assert read(ledger={"url": URL}) == SharedLedger(URL, "adomnia_hospital")
    assert read(ledger={"url": URL, "schema": "mine"}).schema == "mine"
    named = read_ledger(Document(Path("catalog.toml"), "", {"ledger": {"url": URL}}), "a" * 63)
    assert len(named.schema) == 63


def test_an_account_is_named_with_its_budget():
    lifetime = {"epsilon": 2, "delta": 1e-6, "approximate": True}
    found = read(ledger={"url": URL, "lifetime": "people of the town"}, lifetime=lifetime)
    assert found.lifetime == "people of the town"
    assert found.lifetime_budget == Budget(2, 1e-6, approximate=True)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"lifetime": {"epsilon": 1}}, "lifetime in catalog.toml has no .ledger. that several datasets could share"),
        ({"ledger": {}}, "ledger in catalog.toml has no url"),
        ({"ledger": {"url": 3}}, "ledger.url in catalog.toml must be a URL of PostgreSQL"),
        ({"ledger": {"url": "mysql://host/x"}}, "ledger.url in catalog.toml is no URL of PostgreSQL"),
        ({"ledger": {"url": "postgresql://me:geheim@host/x"}}, "has a password in it"),
        ({"ledger": {"url": URL, "schema": "A"}}, "ledger.schema in catalog.toml must be a name of at most 63 small"),
        ({"ledger": {"url": URL, "lifetime": ""}}, "must be a text of 1 to 100 printable"),
        ({"ledger": {"url": URL, "lifetime": "town"}}, "and .lifetime. belong together, and one is missing"),
        ({"ledger": {"url": URL}, "lifetime": {"epsilon": 1}}, "and .lifetime. belong together, and one is missing"),
        (
            {"ledger": {"url": URL, "lifetime": "town"}, "lifetime": {"epsilon": 0}},
            "lifetime.epsilon in catalog.toml must",
        ),
        (
            {"ledger": {"url": URL, "lifetime": "town"}, "lifetime": {"epsilon": 1, "approximate": True}},
            "lifetime.approximate in catalog.toml needs a delta above 0",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_its_key_without_repeating_secrets(content, says):
    with pytest.raises(Refusal, match=says) as refusal:
        read(**content)
    assert "geheim" not in str(refusal.value)
