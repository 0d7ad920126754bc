"""Databases of the real PostgreSQL with something in them."""

from __future__ import annotations

from contextlib import contextmanager

import psycopg

from kit.postgres import database


@contextmanager
def filled(*statements):
    """A new database in which some statements ran: its URL."""
    with database() as url:
        run(url, *statements)
        yield url


def run(url, *statements):
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
