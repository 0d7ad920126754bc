"""Which letter is the other case of which: engines differ in this beyond ASCII, and DuckDB is the one that they follow.

DuckDB changes every character by itself into exactly one other, so that a table of pairs says all.
"""

from functools import lru_cache
from itertools import chain, compress

_CHARACTERS = (range(1, 0xD800), range(0xE000, 0x110000))  # what is between them are surrogates: no characters


@lru_cache
def list_case_pairs(function: str) -> tuple[tuple[str, str], ...]:
    """The characters that UPPER or LOWER changes, each with what it becomes, in the order of their numbers."""
    import duckdb

    text = "".join(map(chr, chain(*_CHARACTERS)))
    with duckdb.connect() as connection:
        ((changed,),) = connection.execute(f"SELECT {function}($1)", [text]).fetchall()
    return tuple(compress(zip(text, changed, strict=True), map(str.__ne__, text, changed)))
