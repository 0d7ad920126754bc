"""Visits without a server around them."""

from __future__ import annotations

from adomnia.api.access import Role, Visitor
from adomnia.api.requests import Visit
from adomnia.api.running.served_dataset import Edition


def visit_as_owner(curator):
    """The owner's visit at a dataset."""
    return Visit(None, Visitor("olga", Role.OWNER), Edition(curator, ""))
