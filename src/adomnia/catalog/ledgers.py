"""What catalog.toml says about budgets and about where they are kept: [budget], [ledger] and [lifetime]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.catalog.document_keys import LEDGER, LIFETIME, Section
from adomnia.catalog.model import SharedLedger
from adomnia.errors import Refusal
from adomnia.postgres import check_url, usual_schema
from adomnia.privacy.filters import Budget

if TYPE_CHECKING:
    from adomnia.catalog.document import Document


def read_budget(document: Document, part: str, section: Section) -> Budget:
    """The budget that a section declares."""
    declared = document.section((part,), section)
    with document.translate_errors((part,), section):
        budget = Budget(**declared)
    if budget.approximate and not budget.delta:
        why = "needs a delta above 0: every spend that is not pure uses some"
        raise document.refusal((part, "approximate"), why, "add delta = 1e-6, or write approximate = false")
    return budget


def read_ledger(document: Document, dataset: str) -> SharedLedger | None:
    """Where the ledger is, if it is not in a file beside the catalog."""
    if "ledger" not in document.content:
        if "lifetime" in document.content:
            fix = 'add [ledger] with url = "postgresql://..." and lifetime = "...", or remove it'
            raise document.refusal(("lifetime",), "has no [ledger] that several datasets could share", fix)
        return None
    declared = document.section(("ledger",), LEDGER)
    _check_url(document, declared["url"])
    schema = declared.get("schema", usual_schema(dataset))
    name, budget = declared.get("lifetime"), None
    if ("lifetime" in document.content) != (name is not None):
        fix = 'name the account (lifetime = "...") under [ledger], and its budget under [lifetime]'
        raise document.refusal(("ledger", "lifetime"), "and [lifetime] belong together, and one is missing", fix)
    if name is not None:
        budget = read_budget(document, "lifetime", LIFETIME)
    return SharedLedger(declared["url"], schema, name, budget)


def _check_url(document: Document, url: str) -> None:
    """Refuse what is no URL of PostgreSQL, or has a password in it, at its place in the catalog."""
    try:
        check_url(url, "url")
    except Refusal as refusal:
        raise document.refusal(("ledger", "url"), refusal.why, refusal.fix) from None
