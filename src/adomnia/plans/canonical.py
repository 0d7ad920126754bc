"""Plans as bytes: what the identity of a question is a hash of.

A class is encoded by its `tag`, which stays what it was when the class is renamed or moved: answers are stored under
such hashes, and one that is not found again would be paid for twice. A statistic whose rounds change although its
fields do not raises its `rules`: what was measured by others is another answer then.
"""

from dataclasses import fields
from datetime import date
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np

from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import LATER, Text

_KEPT = "_canonical"  # where a frozen dataclass keeps its encoding, beside its fields
_FIELDS = "__dataclass_fields__"  # what is_dataclass looks for, which takes classes for data as well
_DECLARED = (Text, Column)


def canonical(value: object) -> bytes:
    """An injective encoding of plain values and frozen dataclasses of them."""
    if not hasattr(type(value), _FIELDS):
        return _encode_plain(value)
    # By its hash, and once: a relation and its columns stand in every statistic, and these in several plans.
    kept = vars(value)
    if _KEPT not in kept:
        kept[_KEPT] = _encode_declared(value) if isinstance(value, _DECLARED) else _hash_fields(value)
    encoded: bytes = kept[_KEPT]
    return encoded


def _encode_plain(value: object) -> bytes:
    match value:
        case tuple():
            return b"(%d %b)" % (len(value), b"".join(map(canonical, value)))
        case str():
            text = value.encode("utf-8", "surrogatepass")
            return b"<%d:%b>" % (len(text), text)
        case None | bool():
            return f"<{value}>".encode()
        case int() | Fraction() | date() | float():  # a double is written with all digits that tell it from others
            return f"<{type(value).__name__} {value}>".encode()
        case np.ndarray() if np.issubdtype(value.dtype, np.signedinteger):
            return b"<array %b>" % sha256(repr(value.shape).encode() + value.astype("<i8").tobytes()).digest()
    raise TypeError(f"canonical value must be plain data, got {type(value).__name__}.")


@lru_cache(maxsize=1024)
def _encode_declared(value: Text | Column) -> bytes:
    """A category with all its values, or a column, once for all questions."""
    return _hash_fields(value)


def _hash_fields(value: Any) -> bytes:  # noqa: ANN401 - a dataclass
    kind: type = type(value)
    tag, names, later = _shape(kind)
    parts = [canonical(getattr(value, name)) for name in names]
    if later:
        parts += [canonical((name, getattr(value, name))) for name, usual in later if getattr(value, name) != usual]
    return b"#" + sha256(tag + b"".join(parts)).digest()


@lru_cache(maxsize=256)
def _shape(kind: type) -> tuple[bytes, tuple[str, ...], tuple[tuple[str, object], ...]]:
    """The tag of a class, the names of its fields, and those that came later with the value that stands for none."""
    if "tag" not in vars(kind):
        raise TypeError(f"canonical value must have a tag of its own, and {kind.__name__} has none.")
    rules, own = getattr(kind, "rules", 1), fields(kind)
    tag: str = vars(kind)["tag"] if rules == 1 else f"{vars(kind)['tag']} {rules}"
    names = tuple(field.name for field in own if LATER not in field.metadata)
    return f"{tag} ".encode(), names, tuple((field.name, field.default) for field in own if LATER in field.metadata)
