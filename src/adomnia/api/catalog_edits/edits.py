"""Changes a catalog's text in place: the value of one key, a key more or less, a section more or less.

Comments, order and spelling of all the rest stay. Every change is read back: the text must then hold exactly what it
held before, but for that change.
"""

from __future__ import annotations

import re
import tomllib
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from adomnia.catalog.toml_places import find_spans
from adomnia.catalog.write import toml_string
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.catalog.toml_places import Path as KeyPath
    from adomnia.catalog.toml_places import TextSpans

__all__ = ["add_section", "remove_key", "remove_section", "set_value", "toml_string"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def set_value(text: str, path: KeyPath, literal: str) -> str:
    r"""Give a key another value, or add it to its section.

    >>> set_value("[budget]\nepsilon = 1.0  # all\n", ("budget", "epsilon"), "2.0")
    '[budget]\nepsilon = 2.0  # all\n'
    """
    spans = find_spans(text)
    if path in spans.pairs:
        _, start, end = spans.pairs[path]
        changed = f"{text[:start]}{literal}{text[end:]}"
    else:
        changed = _add_key(text, spans, path, f"{write_key(path[-1])} = {literal}")
    expected = deepcopy(tomllib.loads(text))
    _section_of(expected, path)[path[-1]] = tomllib.loads(f"value = {literal}")["value"]
    return _check(changed, expected, path)


def remove_key(text: str, path: KeyPath) -> str:
    r"""Remove a key that its section holds.

    >>> remove_key("age = { lower = 0, upper = 9 }", ("age", "upper"))
    'age = { lower = 0 }'
    """
    spans = find_spans(text)
    pair = spans.pairs.get(path)
    if pair is None:
        raise _not_in_place(path)
    inline = path[:-1] in spans.pairs
    start, end = _cut_inline(text, pair.key, pair.end) if inline else _cut_lines(text, pair.key, pair.end)
    expected = deepcopy(tomllib.loads(text))
    del _section_of(expected, path)[path[-1]]
    return _check(text[:start] + text[end:], expected, path)


def add_section(text: str, path: KeyPath, literals: Mapping[str, str]) -> str:
    """Add a section with a heading of its own, after the last one of its kind or at the end."""
    spans = find_spans(text)
    kind = [place for section, place in spans.headings if section[: len(path) - 1] == path[:-1]]
    after = _end_of_block(text, spans, max(kind)) if kind else len(text.rstrip())
    lines = [f"[{'.'.join(map(write_key, path))}]", *(f"{write_key(key)} = {each}" for key, each in literals.items())]
    changed = f"{text[:after]}\n\n" + "\n".join(lines) + (text[after:] or "\n")
    expected = deepcopy(tomllib.loads(text))
    values = {key: tomllib.loads(f"value = {literal}")["value"] for key, literal in literals.items()}
    expected.setdefault(path[0], {})[path[1]] = values
    return _check(changed, expected, path)


def remove_section(text: str, path: KeyPath) -> str:
    """Remove a section with a heading of its own, and what stands under it."""
    spans = find_spans(text)
    own = [place for section, place in spans.headings if section[: len(path)] == path]
    if not own:
        return remove_key(text, path)
    expected = deepcopy(tomllib.loads(text))
    del _section_of(expected, path)[path[-1]]
    if not expected[path[0]] and all(section != path[:1] for section, _ in spans.headings):
        del expected[path[0]]  # nothing says any more that there is such a part
    for place in reversed(own):
        rest = text[_end_of_block(text, spans, place) :]
        text = text[:place].rstrip("\n") + ("\n\n" if rest.strip() else "\n") + rest.lstrip("\n")
    return _check(text, expected, path)


def write_key(name: str) -> str:
    """A name as a key: bare where TOML allows it."""
    return name if _BARE.fullmatch(name) else toml_string(name)


def _add_key(text: str, spans: TextSpans, path: KeyPath, line: str) -> str:
    section = path[:-1]
    if section in spans.pairs and text[spans.pairs[section].start] == "{":
        end = spans.pairs[section].end - 1  # of the brace
        before = text[:end].rstrip(" \t")
        separator = "" if before.endswith("{") else ","
        return f"{before}{separator} {line} {text[end:]}"
    block = spans.block_of(section)
    if block is None:
        raise _not_in_place(path)
    after = _end_of_block(text, spans, block[0])
    return f"{text[:after]}\n{line}{text[after:]}"


def _end_of_block(text: str, spans: TextSpans, place: int) -> int:
    """Where the last line ends that belongs to a heading: its last pair's, or its own."""
    later = [start for _, start in spans.headings if start > place]
    end = min(later, default=len(text))
    last = max((pair.end for pair in spans.pairs.values() if place < pair.key < end), default=place)
    line_end = text.find("\n", last)
    return len(text) if line_end < 0 else line_end


def _cut_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines of a key, with the comment behind it."""
    line_end = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if line_end < 0 else line_end + 1


def _cut_inline(text: str, start: int, end: int) -> tuple[int, int]:
    """A key inside of braces with one of the commas beside it."""
    rest = text[end:]
    if rest.lstrip(" \t").startswith(","):
        after = end + rest.index(",") + 1
        return start, after + len(text[after:]) - len(text[after:].lstrip(" \t"))
    before = text[:start].rstrip(" \t")
    return (len(before) - 1 if before.endswith(",") else start), end


def _section_of(content: dict[str, Any], path: KeyPath) -> dict[str, Any]:
    for name in path[:-1]:
        content = content[name]
    return content


def _check(changed: str, expected: dict[str, Any], path: KeyPath) -> str:
    try:
        if tomllib.loads(changed) == expected:
            return changed
    except ValueError:
        pass
    raise _not_in_place(path)


def _not_in_place(path: KeyPath) -> Refusal:
    why = "is written in a way that this form does not know how to change"
    return Refusal(".".join(path), why, "change it in the text")
