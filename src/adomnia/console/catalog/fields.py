"""The fields of the guided editor: which keys a form has, how each is shown, and how what is typed becomes TOML."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from adomnia.api.catalog_edits.edits import toml_string
from adomnia.catalog.document_keys import COLUMNS
from adomnia.catalog.model import POLICIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adomnia.catalog.toml_places import Path as KeyPath

_VALUE = re.compile(r"[+-]?[0-9A-Za-z][0-9A-Za-z+\-.:_]*")
_SEPARATED = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")
_LONGEST_LINE = 100
_NUMBER, _TEXT, _LINES, _QUESTION = "number", "text", "lines", "question"


@dataclass(frozen=True)
class FormKey:
    """How a key is asked for: its label, a note, the kind of field, and the values to choose from, if few."""

    label: str
    note: str = ""
    kind: str = _NUMBER
    choices: tuple[str, ...] = ()


KEYS = {
    "version": FormKey("Version", "Raise it when a file of the data changes. Bounds and budgets need no new one."),
    "minimum_frequency": FormKey("Least people of a found value", "Values that nobody declared are named only then."),
    "vacuous_answers": FormKey("Answers that say almost nothing", "", _TEXT, ("refuse", "warn")),
    "epsilon": FormKey("Epsilon", "The most that may ever be spent."),
    "delta": FormKey("Delta", "Far below one over the number of people."),
    "approximate": FormKey("Gaussian noise and thresholds", "They need a delta.", _NUMBER, ("true", "false")),
    "event_delta": FormKey("Delta of thresholds", "A part of delta; half of it if empty."),
    "policy": FormKey("Who sets the price", "", _TEXT, tuple(POLICIES)),
    "questions": FormKey("Questions", "With equal_split: over how many the epsilon is split."),
    "spend": FormKey("Spend", "With geometric: the part of what is left that the next question costs."),
    "keep": FormKey("Keep", "Instead of spend: the part that it leaves."),
    "ceiling": FormKey("Ceiling", "The most that one question may cost."),
    "largest_answer": FormKey("Largest answer", "The most numbers that one question may measure."),
    "storage": FormKey("Storage", "Of all answers together, such as 500MB.", _TEXT),
    "rows_per_person": FormKey("Rows per person", "More of one person are left out, by chance. Noise grows with it."),
    "max": FormKey("Rows per person, at most", "Each question takes the cap that suits it, up to this."),
    "lower": FormKey("Lower"),
    "upper": FormKey("Upper"),
    "step": FormKey("Step", "Values are rounded to it."),
    "values": FormKey("Values", "One a line, or the column of a public table, such as cities.city.", _LINES),
    "others": FormKey("All others", "What is not listed is read as this; as missing if empty.", _TEXT),
    "sql": FormKey("Question", "A SELECT, to ask about as if it were a table.", _QUESTION),
}


@dataclass(frozen=True)
class EditorField:
    """One key of the catalog in a form. `value` is what the field shows, empty if the key is not there."""

    path: KeyPath
    value: str
    key: FormKey

    @property
    def name(self) -> str:
        """The name of the field in the form."""
        return json.dumps(self.path, ensure_ascii=False)

    @property
    def dotted(self) -> str:
        """The key as problems name it."""
        return ".".join(self.path)

    def write(self, typed: str, tables: Iterable[str]) -> str | None:
        """What was typed, as TOML; None if it is empty. What cannot be meant is a text, and refused by the reader."""
        words = typed.strip()
        if not words:
            return None
        if self.key.kind == _LINES:
            return _write_values([line.strip() for line in words.splitlines() if line.strip()], tables)
        if self.key.kind == _QUESTION:
            return _write_question(words)
        return toml_string(words) if self.key.kind == _TEXT else _write_number(words)


def list_fields(content: Mapping[str, Any], section: KeyPath, keys: Iterable[str]) -> list[EditorField]:
    """The fields of a section, for these keys."""
    held: Any = content
    for name in section:
        held = held.get(name, {}) if isinstance(held, dict) else {}
    found = held if isinstance(held, dict) else {}
    return [EditorField((*section, key), _show_value(found.get(key)), KEYS[key]) for key in keys]


def list_column_keys(declared: object) -> list[str]:
    """The keys of a column that the form asks for: what its type takes, but for its name and spelling in the file."""
    section = COLUMNS.get(str(declared.get("type"))) if isinstance(declared, dict) else None
    return [] if section is None else [name for name in section.names() if name in KEYS]


def read_path(name: str) -> KeyPath | None:
    """The path that the name of a field stands for; None for another field."""
    if not name.startswith("["):
        return None
    try:
        path = json.loads(name)
    except (ValueError, RecursionError):  # of a name of thousands of brackets
        return None
    return tuple(path) if isinstance(path, list) and all(isinstance(part, str) for part in path) else None


def _show_value(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return "\n".join(map(str, value))
        case int():
            return f"{value:,}" if abs(value) >= 10_000 else str(value)
        case date():  # a time is one too
            return value.isoformat()
    return str(value)


def _write_number(words: str) -> str:
    """A number, a date or a flag as it is; thousands may be parted by commas."""
    plain = words.replace(",", "_") if _SEPARATED.fullmatch(words) else words
    if not _VALUE.fullmatch(plain):
        return toml_string(words)
    try:
        tomllib.loads(f"value = {plain}")
    except ValueError:
        return toml_string(words)
    return plain


def _write_values(lines: list[str], tables: Iterable[str]) -> str:
    table, dot, _ = lines[0].partition(".")
    if len(lines) == 1 and dot and table in tables:
        return toml_string(lines[0])
    literals = [toml_string(line) for line in lines]
    one_line = f"[{', '.join(literals)}]"
    if len(one_line) <= _LONGEST_LINE:
        return one_line
    return "[\n" + "".join(f"    {literal},\n" for literal in literals) + "]"


def _write_question(words: str) -> str:
    """A question on several lines stays on several."""
    lines = words.replace("\r\n", "\n")
    if "\n" not in lines or '"""' in lines or "\\" in lines:
        return toml_string(lines)
    return f'"""\n{lines}\n"""'
