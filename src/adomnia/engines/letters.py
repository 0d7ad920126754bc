"""Which letter is the other case of which: engines differ in this beyond ASCII, and DuckDB is the one that they follow.

DuckDB changes every character by itself into exactly one other, so that a table of pairs says all.
"""

from functools import lru_cache

_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)  # no characters


@lru_cache
def list_case_pairs(function: str) -> tuple[tuple[str, str], ...]:
    """The characters that UPPER or LOWER changes, each with what it becomes, in the order of their numbers."""
    import duckdb

    text = "".join(chr(code) for code in range(1, _LAST + 1) if code not in _SURROGATES)
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {function}($1)", [text]).fetchall()
    return tuple((one, other) for one, other in zip(text, found[0][0], strict=True) if one != other)
