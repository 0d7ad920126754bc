"""The contribution index: everybody's rows, ranked once, so that a cap is a comparison; docs/proofs/index.md."""

from adomnia.engines.index.build import (
    STEPS,
    IndexWriter,
    build_public,
    build_rows,
    build_table,
    declare_categories,
    list_indexed,
    tell_steps,
)
from adomnia.engines.index.people import Links, Run
from adomnia.engines.index.readings import count_readings, refuse_unreadable
from adomnia.engines.index.source import TableSource

__all__ = [
    "STEPS",
    "IndexWriter",
    "Links",
    "Run",
    "TableSource",
    "build_public",
    "build_rows",
    "build_table",
    "count_readings",
    "declare_categories",
    "list_indexed",
    "refuse_unreadable",
    "tell_steps",
]
