"""A catalog.toml as text and as data, and the refusals that point into it."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from adomnia.catalog.document_keys import CATALOG, NAME, SECTION, SECTIONS, Rule, closest, did_you_mean
from adomnia.catalog.toml_places import find_places
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adomnia.catalog.document_keys import DocumentKey, Section

_POSITION = re.compile(r"(?<=line )\d+|(?<=column )\d+")
_KERNEL = re.compile(r"\w+ (?P<field>\w+) (?P<rule>must .*)\.")  # how every ValueError of ours is worded
_LONGEST = 60
_Given = ParamSpec("_Given")
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Document:
    """The text and its content; a path such as ("budget", "epsilon") names a place in both.

    Who reads it may go on after a problem, which is then kept in `problems`: an owner wants to hear of all at once.
    """

    file: Path
    text: str
    content: dict[str, Any]
    problems: list[Refusal] = field(default_factory=list)

    def attempt(self, read: Callable[_Given, _Read], *given: _Given.args, **named: _Given.kwargs) -> _Read | None:
        """What a reader reads, or None where it refuses: the refusal is kept."""
        try:
            return read(*given, **named)
        except Refusal as problem:
            self.problems.append(problem)
            return None

    def raise_all(self, found: Iterable[Refusal]) -> None:
        """Raise the first of several refusals, if there are any, and keep the others."""
        problems = list(found)
        self.problems.extend(problems[1:])
        if problems:
            raise problems[0]

    def check_all(self, checks: Iterable[Callable[[], object]]) -> None:
        """Make every check, raise the first refusal, if there is one, and keep the others."""
        before = len(self.problems)
        for check in checks:
            self.attempt(check)
        if len(self.problems) > before:
            raise self.problems.pop(before)

    def at(self, *path: str) -> Any:  # noqa: ANN401 - TOML holds anything until a rule has looked at it
        """What the content holds at a path."""
        found: Any = self.content
        for name in path:
            found = found[name]
        return found

    def refusal(self, path: Sequence[str], why: str, fix: str) -> Refusal:
        """The refusal at a key; of a missing key, at the section that it belongs to."""
        key = ".".join(path)
        return Refusal(f"{key} in {self.file}" if key else str(self.file), why, fix, self.place(path))

    def place(self, path: Sequence[str]) -> tuple[int, int]:
        """Line and column of a key; of a missing key, of the section that it belongs to."""
        found = find_places(self.text)
        present = next((path[:end] for end in range(len(path), 0, -1) if tuple(path[:end]) in found), ())
        return found.get(tuple(present), (1, 1))

    def section(self, path: tuple[str, ...], section: Section) -> dict[str, Any]:
        """The section at a path, after checking that its keys are known, complete, and hold what their rules say."""
        self._check_part(path)
        content: dict[str, Any] = self.at(*path)
        self.raise_all(self._key_faults(path, section))
        return content

    def names(self, *path: str, reserved: Sequence[str] = (), rule: Rule = NAME) -> list[str]:
        """The names that the owner chose at a path, after checking that they are well-formed, free and distinct."""
        self._check_part(path)
        taken: dict[str, str] = {}
        self.raise_all(self._name_faults(path, reserved, taken, rule))
        return list(taken.values())

    @contextmanager
    def translate_errors(self, path: tuple[str, ...], section: Section) -> Iterator[None]:
        """Turn a ValueError about a field into a refusal at the key of the same name."""
        try:
            yield
        except ValueError as error:
            found = _KERNEL.fullmatch(str(error))
            if found is None:
                raise
            example = section.key(found["field"]).example
            raise self.refusal((*path, found["field"]), found["rule"], f"write for example {example}") from None

    def _check_part(self, path: tuple[str, ...]) -> None:
        """Refuse a part of the catalog that is missing or is none, in the words in which the catalog as a whole is."""
        for name in path[:1]:
            self.raise_all(self._faults_of_key((), CATALOG.key(name), CATALOG))

    def _key_faults(self, path: tuple[str, ...], section: Section) -> Iterator[Refusal]:
        for name in self._unknown_names(path, section):
            yield self._unknown((*path, name), section)
        for key in section.keys:
            yield from self._faults_of_key(path, key, section)

    def _unknown_names(self, path: tuple[str, ...], section: Section) -> list[str]:
        return [name for name in self.at(*path) if name not in section.names()]

    def _faults_of_key(self, path: tuple[str, ...], key: DocumentKey, section: Section) -> Iterator[Refusal]:
        if key.name in self.at(*path):
            yield from self._value_faults((*path, key.name), key)
        elif key.required:
            misspelt = closest(key.name, self._unknown_names(path, section))
            if misspelt is None:
                yield self.refusal(path, f"has no {key.name}", f"add {key.example}")
            else:
                yield self._unknown((*path, misspelt), section)

    def _name_faults(
        self, path: tuple[str, ...], reserved: Sequence[str], taken: dict[str, str], rule: Rule
    ) -> Iterator[Refusal]:
        for name, value in self.at(*path).items():
            fault = _name_fault(name, reserved, taken, rule)
            if fault is not None:
                yield self.refusal((*path, name), fault, _rename(name, taken) if path[-1] == "columns" else "rename it")
            taken[name.lower()] = name
            if not SECTION.holds(value):
                why = f"must be {SECTION.says}, got {_render_value(value)}"
                yield self.refusal((*path, name), why, "write its keys in { } or under a heading in [ ]")

    def _unknown(self, path: tuple[str, ...], section: Section) -> Refusal:
        name, known = path[-1], section.names()
        owners = " or ".join(other.label for other in SECTIONS if name in other.names())
        hint = f"remove it, as it belongs to {owners}" if owners else did_you_mean(name, known) or "remove it"
        fix = f"{hint} ({section.label} takes {', '.join(known)})"
        return self.refusal(path, f"is not a key of {section.label}", fix)

    def _later(self, path: tuple[str, ...], feature: str, fix: str) -> Refusal:
        return self.refusal(path, f"asks for something that is not built yet: {feature}", fix)

    def _value_faults(self, path: tuple[str, ...], key: DocumentKey) -> Iterator[Refusal]:
        value = self.at(*path)
        if key.later is not None and key.later.holds(value):
            yield self._later(path, key.later.says, f"write for example {key.example}")
        elif not key.rule.holds(value):
            why = f"must be {key.rule.says}, got {_render_value(value)}"
            yield self.refusal(path, why, f"write for example {key.example}")


def load(file: Path) -> Document:
    """Load a document; a refusal where the file is missing or is not TOML."""
    try:
        text = file.read_text(encoding="utf-8-sig")  # Windows editors put a mark at the beginning
        return Document(file, text, tomllib.loads(text))
    except OSError:
        fix = f"name a folder that has one, or write one with adomnia init {file.parent}"
        raise Refusal(str(file), "cannot be read", fix) from None
    except UnicodeDecodeError:
        raise Refusal(str(file), "is not UTF-8 text", "save it as UTF-8") from None
    except (ValueError, RecursionError) as error:  # the parser lets the limits of Python's own show through
        raise _syntax_refusal(file, text, str(error)) from None


def _syntax_refusal(file: Path, text: str, message: str) -> Refusal:
    why, _, where = message.partition(" (at ")
    last = text.rstrip().count("\n") + 1
    line, column = map(int, _POSITION.findall(where) or (last, 1))
    why = f"is not TOML: {why[:1].lower()}{why[1:]}"
    return Refusal(str(file), why, "correct that line; docs/catalog.md shows how every key is written", (line, column))


def _rename(name: str, taken: Mapping[str, str]) -> str:
    """The line by which a column gets another name in the catalog than in the file."""
    clean = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_").lower() or "column"
    clean = f"{clean}_2" if clean in taken else clean
    return f"give it a name of its own: {clean} = {{ column = {json.dumps(name, ensure_ascii=False)}, type = ... }}"


def _name_fault(name: str, reserved: Sequence[str], taken: Mapping[str, str], rule: Rule) -> str | None:
    if not rule.holds(name):
        return f"must be {rule.says}"
    if name.lower() in reserved:
        return "has a name that the index keeps for itself"
    if name.lower() in taken:
        return f"differs from {taken[name.lower()]} only in upper and lower case, which SQL does not tell apart"
    return None


def _render_value(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
