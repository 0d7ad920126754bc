"""The engine that tests run on, and what one needs before it can be loaded: a server that the environment names."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from unittest.mock import patch

from adomnia.engines.limits import USUAL
from adomnia.engines.registry import EMBEDDED, load_engine

KEY = bytes(range(32))
_CHOSEN = ContextVar("engine", default=EMBEDDED)


def make_ready(name):
    """Start the server of an engine, unless it runs already."""
    if name == "postgres":
        from kit.postgres import server

        head = server()
        os.environ |= {"PGHOST": str(head.folder), "PGUSER": "postgres", "PGDATABASE": "postgres"}
    if name == "spark":
        from kit.spark import classic

        classic()


@contextmanager
def using(name):
    """Run on the engine of that name, wherever a test does not say which."""
    make_ready(name)
    token = _CHOSEN.set(name)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def is_foreign():
    """Whether another engine than the embedded one was chosen."""
    return _CHOSEN.get() != EMBEDDED


def load_keyed(catalog, frames, key, limits):
    """The engine over tables in memory, under a key that is known."""
    name = _CHOSEN.get()
    with patch(f"adomnia.engines.{name}.engine.fresh_key", lambda: key):
        return load_engine(name).load(catalog, frames, limits=limits)


def loaded(name, catalog, frames, limits=USUAL):
    """The engine of a name over tables in memory, under a key that is the same for all of them."""
    with using(name):
        return load_keyed(catalog, frames, KEY, limits)
