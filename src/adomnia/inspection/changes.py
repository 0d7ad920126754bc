"""Changes of a catalog.toml that an owner may want to make: as a sentence, and as content to try them on."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.catalog.write import toml_string

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Value: TypeAlias = str | int | tuple[str, ...] | dict[str, str]


@dataclass(frozen=True)
class Change:
    """One key that gets a value: `path` leads to it, and what is not there yet is added."""

    path: tuple[str, ...]
    value: Value


def say_changes(changes: Sequence[Change]) -> str:
    """What to write where; all changes are of one section.

    >>> say_changes([Change(("tables", "people", "csv", "decimal"), ",")])
    'decimal = "," in tables.people.csv'
    """
    keys = ", ".join(f"{change.path[-1]} = {_render(change.value)}" for change in changes)
    (section,) = {change.path[:-1] for change in changes}
    return f"{keys} in {'.'.join(section)}"


def apply_changes(content: dict[str, Any], changes: Iterable[Change]) -> dict[str, Any]:
    """A copy of the content of a catalog with the changes made.

    >>> apply_changes({}, [Change(("tables", "people", "csv", "decimal"), ",")])
    {'tables': {'people': {'csv': {'decimal': ','}}}}
    """
    changed = deepcopy(content)
    for change in changes:
        section = changed
        for name in change.path[:-1]:
            section = section.setdefault(name, {})
        section[change.path[-1]] = list(change.value) if isinstance(change.value, tuple) else change.value
    return changed


def _render(value: Value) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml_string(each)}' for key, each in value.items())} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_string, value))}]"
    return toml_string(value) if isinstance(value, str) else str(value)
