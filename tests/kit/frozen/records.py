"""Records of what is shown: named texts, one after the other in a file that people can read and compare.

A file has the records of one thing in order of their keys. Each begins with a line `=== key`.
"""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Records = dict[str, str]

FOLDER = Path(__file__).parents[2] / "fixtures" / "frozen"
COMMAND = "make freeze"
MOST_RECORDS, MOST_LINES = 8, 16  # of a difference that is told
_HEAD = "=== "


def collect(told: Iterable[tuple[str, str]]) -> Records:
    """The records of one thing, sorted; two of one key would hide one of them."""
    found: Records = {}
    every = list(told)  # all of it first: who tells may hold a server open
    for key, text in ((_printable(key), _printable(text)) for key, text in every):
        lines = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n").split("\n")
        if key in found or "\n" in key or key != key.strip():
            raise ValueError(f"Record key must be one line and differ from all others, got {key!r}.")
        if any(line.startswith(_HEAD) for line in lines):
            raise ValueError(f"Record text must not look like the head of another, got that in {key!r}.")
        found[key] = "\n".join(lines)
    return dict(sorted(found.items()))


def _printable(text: str) -> str:
    """Without what editors and terminals hide or break lines at."""
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)


def write(records: Records) -> str:
    """The text of a file."""
    return "\n".join(f"{_HEAD}{key}\n{text}\n" for key, text in records.items())


def read(text: str) -> Records:
    """The records of a file."""
    parts = f"\n{text}".split(f"\n{_HEAD}")[1:]
    return {key: body.strip("\n") for key, _, body in (part.partition("\n") for part in parts)}


def file_of(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def load(name: str) -> Records:
    """What is kept of a thing; nothing of a new one."""
    file = file_of(name)
    return read(file.read_text(encoding="utf-8")) if file.exists() else {}


def tell_differences(name: str, kept: Records, found: Records) -> str:
    """Which records differ, the first lines of each difference, and how to keep what is new; nothing if none does."""
    changed = [key for key in sorted({*kept, *found}) if kept.get(key) != found.get(key)]
    if not changed:
        return ""
    parts = [f"{len(changed)} of {len({*kept, *found})} records of {file_of(name).name} differ."]
    parts += ["\n".join(_compare(key, kept, found)) for key in changed[:MOST_RECORDS]]
    more = changed[MOST_RECORDS:]
    parts += [f"And {len(more)} more: {', '.join(more[:50])}"] if more else []
    parts += [f"If that is meant, run `{COMMAND} NAME={name}` and commit the file."]
    return "\n\n".join(parts)


def _compare(key: str, kept: Records, found: Records) -> Iterator[str]:
    """The first lines of a difference."""
    before, after = (None if key not in each else each[key].split("\n") for each in (kept, found))
    what = "is new" if before is None else "is gone" if after is None else "differs"
    yield f"{_HEAD}{key} {what}:"
    lines = list(islice(unified_diff(before or [], after or [], "kept", "found", n=1, lineterm=""), 2, None))
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"... and {len(lines) - MOST_LINES} lines more"
