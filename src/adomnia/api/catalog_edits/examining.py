"""Examines the text of a catalog that is not saved yet: by the real reader, with all problems at once.

Which files are read is decided where the files are, on the machine: a text from a page may name only files that the
catalog names already, and may not make a private file public. Otherwise whoever has an owner's visit could have any
file of the machine read exactly, and no ledger would say so. For the same reason a page does not choose the engine or
the ledger: the server would connect to any host, and would not start again where that host does not answer.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adomnia.catalog.document import Document
from adomnia.catalog.people import is_public
from adomnia.catalog.read import FILE, examine_document
from adomnia.catalog.toml_places import find_places
from adomnia.errors import Refusal
from adomnia.session.curator import facts_in
from adomnia.sql.rows.blocks import check_view
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.catalog.facts import Facts
    from adomnia.catalog.model import Catalog, Table

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_NAME = r"""(?:[\w-]+|"(?:\\.|[^"\\\n]){0,99}"|'[^'\n]*')"""  # of a key
_DEEP = re.compile(rf"""(?<![\w"'-])(?:{_NAME}[ \t]*\.[ \t]*){{20}}""")  # a path that no catalog has
_CHARACTERS_OF_A_STEP = 500
_STEPS_OF_A_PROBLEM = 100
_STEPS_OF_A_PAIR = 100  # of a public and a private table, whose files are compared
_STEPS_OF_A_READING = 1_000  # of a public file that is not kept, however small
_LEAD_ELSEWHERE = ("engine", "ledger")  # sections by which rows and payments go to another machine
_ELSEWHERE = "change it in the file on the server's machine; the server notices within seconds"


@dataclass(frozen=True)
class ExaminedText:
    """A text, everything that is wrong with it, and the catalog that it is if nothing is."""

    text: str
    problems: tuple[Refusal, ...]
    catalog: Catalog | None


@dataclass(frozen=True)
class _PlacedDocument(Document):
    """A document whose lines are counted once: a text from a page may have thousands of problems."""

    @cached_property
    def _places(self) -> dict[tuple[str, ...], tuple[int, int]]:
        return find_places(self.text)

    def place(self, path: Sequence[str]) -> tuple[int, int]:
        """Line and column of a key; of a missing key, of the section that it belongs to."""
        known = (tuple(path[:end]) for end in range(len(path), 0, -1))
        return next((self._places[each] for each in known if each in self._places), (1, 1))


class _Source(NamedTuple):
    file: str
    table: str | None


@dataclass(frozen=True)
class KnownSources:
    """The files that a catalog may name, those that it may read exactly, and its sections that lead elsewhere.

    The text on disk has the `sections`. One that it does not have stays as it is in the `served` catalog: the text may
    be empty, no TOML or cut short, and what somebody took out of a whole one is soon served without it.
    """

    served: Catalog
    all: frozenset[_Source]
    public: frozenset[_Source]
    sections: Mapping[str, object]

    @classmethod
    def of(cls, served: Catalog, on_disk: Mapping[str, Any]) -> KnownSources:
        """Those of the catalog that is served, and of the one that somebody wrote on the machine."""
        tables = {_Source(table.source, table.source_table): table.public for table in served.tables}
        known = set(tables)
        public = {source for source, is_open in tables.items() if is_open}
        for _, source, is_open in _list_sources(on_disk):
            known.add(source)
            public |= {source} if is_open else set()
        sections = {section: on_disk[section] for section in _LEAD_ELSEWHERE if section in on_disk}
        return cls(served, frozenset(known), frozenset(public), sections)

    def check(self, source: _Source, public: bool) -> str | None:
        """Why a table may not be made of a source by a page, if so."""
        if source not in self.all:
            return "is no file that the catalog names already, and pages do not name new ones"
        if public and source not in self.public:
            return "is private, and pages do not make private files public"
        return None


def examine_text(text: str, folder: Path, known: KnownSources | None = None) -> ExaminedText:
    """Find everything that is wrong with a text; None: it is the file on disk, whose sources its author may choose."""
    spend(len(text) // _CHARACTERS_OF_A_STEP)
    try:
        content = parse_toml(text)
    except Refusal as problem:
        return ExaminedText(text, (problem,), None)
    document = _PlacedDocument(Path(FILE), text, content)
    if known is not None:
        foreign = _source_faults(document, known)
        if foreign:  # the reader would look at all files and folders that are named, to compare them
            return ExaminedText(text, tuple(foreign), None)
    _count_pairs(content)

    def facts_of(table: Table) -> Sequence[Facts]:
        why = None if known is None else known.check(_Source(table.source, table.source_table), public=True)
        if why is not None:
            raise Refusal(table.source, why, _ELSEWHERE)
        return _read_facts(folder, table)

    found = examine_document(document, folder, facts_of)
    problems = [*found.problems]
    if found.catalog is not None:
        problems += _view_faults(found.catalog, document)
        if known is not None:
            problems += _moved_faults(found.catalog, known, document)
    spend(_STEPS_OF_A_PROBLEM * len(problems))
    ordered = tuple(sorted(problems, key=lambda problem: problem.position or (1, 1)))
    return ExaminedText(text, ordered, None if ordered else found.catalog)


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a text, or a refusal at the line that is not TOML, or whose path would be read for hours."""
    if deep := _DEEP.search(text):
        at = text.count("\n", 0, deep.start()) + 1, deep.start() - text.rfind("\n", 0, deep.start())
        fix = "correct that line; docs/catalog.md shows how every key is written"
        raise Refusal(FILE, "has a key of more than twenty parts", fix, at)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # the parser lets the limits of Python's own show through
        why, place = str(error), _PLACE.search(str(error))
        line, column = place.groups() if place else (None, None)
        last = text.rstrip().count("\n") + 1
        position = (int(line), int(column)) if line and column else (last, 1)
        says = _PLACE.sub("", why)
        fix = "correct that line; docs/catalog.md shows how every key is written"
        raise Refusal(FILE, f"is not TOML: {says[:1].lower()}{says[1:]}", fix, position) from None


def _list_sources(content: Mapping[str, Any]) -> Iterator[tuple[str, _Source, bool]]:
    """The sources that a text names, whatever else is wrong with it."""
    tables = content.get("tables")
    for name, table in tables.items() if isinstance(tables, dict) else ():
        if isinstance(table, dict) and isinstance(table.get("source"), str):
            yield name, _Source(table["source"], _text_or_none(table.get("table"))), is_public(table)


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)


def _source_faults(document: Document, known: KnownSources) -> list[Refusal]:
    """The sources and sections that a page may not choose, in the order of the text."""
    faults = []
    for name, source, public in _list_sources(document.content):
        why = known.check(source, public)
        if why is not None:
            spend(_STEPS_OF_A_PROBLEM)
            faults.append(document.refusal(("tables", name, "source"), why, _ELSEWHERE))
    for section, on_disk in known.sections.items():
        if document.content.get(section) != on_disk:
            why = "is not that of the catalog on the machine, and pages do not choose another"
            faults.append(document.refusal((section,), why, _ELSEWHERE))
    return sorted(faults, key=lambda fault: fault.position or (1, 1))


def _moved_faults(catalog: Catalog, known: KnownSources, document: Document) -> Iterator[Refusal]:
    """The sections by which a text leads elsewhere than the catalog that is served, and that on disk has none of."""
    for section in _LEAD_ELSEWHERE:
        if section not in known.sections and getattr(catalog, section) != getattr(known.served, section):
            why = "is not that of the catalog that is served, and pages do not choose another"
            yield document.refusal((section,), why, _ELSEWHERE)


def _count_pairs(content: Mapping[str, Any]) -> None:
    """Count the work of comparing the files of all public tables with those of all private ones."""
    public = [is_open for _, _, is_open in _list_sources(content)]
    spend(_STEPS_OF_A_PAIR * public.count(True) * public.count(False))


def _view_faults(catalog: Catalog, document: Document) -> Iterator[Refusal]:
    for view in catalog.views:
        try:
            check_view(catalog, view)
        except Refusal as fault:
            yield document.refusal(("views", view.name, "sql"), f"cannot be read: {fault.what} {fault.why}", fault.fix)


def _read_facts(folder: Path, table: Table) -> Sequence[Facts]:
    """The facts of a public table; those of a file that did not change are not read again at every key press."""
    try:
        status = (folder / table.source).stat()
    except OSError:  # a pattern
        spend(_STEPS_OF_A_READING)
        return facts_in(folder)(table)
    return _read_facts_once(folder, table, (status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=64)
def _read_facts_once(folder: Path, table: Table, _state: tuple[int, int]) -> Sequence[Facts]:
    spend(_STEPS_OF_A_READING)
    return facts_in(folder)(table)
