"""Reads JSON that comes from outside: whoever else reads the same text must read the same values."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class RepeatedKeyError(ValueError):
    """An object has one key twice: one reader takes the first value, another the last."""

    def __init__(self, key: str) -> None:
        super().__init__(f"JSON object must have each key once, got {key!r} twice.")
        self.key = key


def read_json(text: str | bytes, parse_float: Callable[[str], Any] = float) -> Any:  # noqa: ANN401 - whatever it holds
    """The value of a text in UTF-8; ValueError where it is no JSON, or is nested too deeply.

    >>> read_json('{"epsilon": 1, "epsilon": 2}')
    Traceback (most recent call last):
    adomnia.json_text.RepeatedKeyError: JSON object must have each key once, got 'epsilon' twice.
    """
    text = text if isinstance(text, str) else text.decode()
    try:
        return json.loads(text, parse_float=parse_float, parse_constant=_refuse_constant, object_pairs_hook=_build)
    except RecursionError:
        raise ValueError("JSON must not be nested that deeply.") from None


def _build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    raise RepeatedKeyError(next(key for key, number in Counter(key for key, _ in pairs).items() if number > 1))


def _refuse_constant(word: str) -> None:
    raise ValueError(f"JSON numbers must be finite, got {word}.")
