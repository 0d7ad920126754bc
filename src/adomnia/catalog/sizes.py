"""Sizes as people write them: 500KB, 1200MB, 2GB, 1.5GiB."""

import re
from fractions import Fraction

_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([KMGT])(i?)B", re.ASCII)
_POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(written: str) -> int | None:
    """The bytes of a size; None for a text that is none.

    >>> parse_size("1.5KB"), parse_size("2MiB"), parse_size("much")
    (1500, 2097152, None)
    """
    match = _SIZE.fullmatch(written)
    if match is None:
        return None
    number, unit, binary = match.groups()
    return int(Fraction(number) * (1024 if binary else 1000) ** _POWERS[unit])
