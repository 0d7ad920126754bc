"""Names and values as questions write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adomnia.privacy.expressions import quote_name
from adomnia.sql.reading.refusals import shorten
from adomnia.sql.reading.select_builder import is_one_name, list_keywords
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.functions import NAMES

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

__all__ = [
    "choose_alias",
    "list_functions",
    "put_in_quotes",
    "quote_identifier",
    "quote_text",
    "shorten",
    "write_column",
]

_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def quote_identifier(name: str) -> str:
    """The name of a table or column: in quotes where it is not a plain word, or one that means something in SQL.

    >>> quote_identifier("age"), quote_identifier("order"), quote_identifier("Education Num")
    ('age', '"order"', '"Education Num"')
    """
    if _PLAIN.fullmatch(name) and name.upper() not in list_keywords():
        return name
    return put_in_quotes(name)


def put_in_quotes(name: str) -> str:
    """Any name, surely read as one.

    >>> put_in_quotes('6" pipes')
    '"6"" pipes"'
    """
    return '"' + name.replace('"', '""') + '"'


def write_column(name: str) -> str:
    """The name of a column as an expression: in quotes where it would be read for something else.

    >>> write_column("age"), write_column("select"), write_column('6" pipes')
    ('age', '"select"', '"6"" pipes"')
    """
    plain = quote_name(name)
    return plain if is_one_name(plain) else put_in_quotes(name)


def quote_text(value: str) -> str:
    """A text constant.

    >>> quote_text("O'Hara")
    "'O''Hara'"
    """
    return "'" + value.replace("'", "''") + "'"


def choose_alias(wanted: str, taken: AbstractSet[str]) -> str:
    """A plain name for an output, which is none of those in lower case that are taken.

    >>> choose_alias("mean salary", {"mean_salary"}), choose_alias("order", set())
    ('mean_salary_2', 'the_order')
    """
    plain = re.sub("[^a-z0-9_]+", "_", wanted.lower()).strip("_") or "value"
    first = plain if _PLAIN.fullmatch(plain) and plain.upper() not in list_keywords() else f"the_{plain}"
    numbers = range(2, len(taken) + 3)
    return next(name for name in (first, *(f"{first}_{number}" for number in numbers)) if name not in taken)


def list_functions() -> list[tuple[str, str]]:
    """The functions that questions may call by name, each an aggregate or a function."""
    aggregates = {aggregate.name for aggregate in AGGREGATES.values()}
    return [
        *((name, "aggregate") for name in sorted(aggregates)),
        *((name, "function") for name in sorted(NAMES - aggregates)),
    ]
