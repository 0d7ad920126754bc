"""Texts that would make a release: this page has shown no price of one, and its method has a form that does."""

from __future__ import annotations

from adomnia.errors import Refusal
from adomnia.sql.reading.creating import read_creation

__all__ = ["refuse_creation"]


def refuse_creation(sql: str) -> None:
    """Refuse to make a release."""
    if read_creation(sql) is not None:
        why, fix = "is not asked on this page", "fill in the form of its method, at /methods, and publish there"
        raise Refusal("CREATE TABLE", why, fix, (1, 1), code="statement_not_allowed")
