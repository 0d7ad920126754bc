"""What the caller of `protect` declares, found for each table and column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.catalog.document_keys import COLUMNS, SYNONYMS, did_you_mean
from adomnia.catalog.people import read_link
from adomnia.errors import Refusal
from adomnia.privacy.units import ROW, Unit
from adomnia.session.frames import list_tables, read_frame, unknown_column

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    import pyarrow as pa

    from adomnia.catalog.model import Link
    from adomnia.privacy.amounts import Number
    from adomnia.privacy.filters import Budget

TABLE = "data"
EACH_ROW = "row"

Bounds: TypeAlias = "Mapping[str, tuple[Number | date, Number | date]]"
Values: TypeAlias = "Mapping[str, Sequence[object] | Mapping[str, object]]"
Cap: TypeAlias = "int | Mapping[str, Number]"
Choice: TypeAlias = "Sequence[str] | Mapping[str, str]"


@dataclass(frozen=True)
class Declared:
    """What the caller says about the tables; nothing else is known of them, and nothing is taken from private rows."""

    unit: str
    budget: Budget
    rows_per_person: Cap | Mapping[str, Cap] | None = None
    bounds: Bounds = field(default_factory=dict)
    categories: Values = field(default_factory=dict)
    columns: Choice | Mapping[str, Choice] | None = None
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GivenTables:
    """The tables as they were given, by name, and the types that were declared for columns of theirs."""

    frames: dict[str, pa.Table]
    public: frozenset[str]
    single: bool
    types: dict[tuple[str, str], str]

    @property
    def private(self) -> list[str]:
        """The names of the tables about people."""
        return [name for name in self.frames if name not in self.public]

    def spread(self, option: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
        """An option by table and column; what names its table goes before what does not."""
        places = {key: self._resolve(str(key)) for key in option}
        general_first = sorted(option, key=lambda key: str(key) in {place[1] for place in places[key]}, reverse=True)
        return {place: option[key] for key in general_first for place in places[key]}

    def _resolve(self, key: str) -> list[tuple[str, str]]:
        """The columns that a key stands for: those of its name in private tables, or "table.column"."""
        having = [name for name, frame in self.frames.items() if key in frame.column_names]
        found = [(name, key) for name in having if name not in self.public] or [(name, key) for name in having]
        table, _, column = key.partition(".")
        if not found and table in self.frames and column in self.frames[table].column_names:
            return [(table, column)]
        if not found:
            named = [(name, each) for name, frame in self.frames.items() for each in frame.column_names]
            raise unknown_column(key, [each if len(self.frames) == 1 else f"{name}.{each}" for name, each in named])
        return found


def read_tables(data: object, public: Mapping[str, object], declared: Declared) -> GivenTables:
    """Read all tables, with the columns that were chosen."""
    several = list_tables(data)
    private = {TABLE: data} if several is None else several
    for name in public:
        if name in private:
            why, fix = "is among the private tables too", "give the public one another name"
            raise Refusal(f"Public table {name}", why, fix, code="bad_table")
    everything = {**private, **public}
    choices = _list_choices(declared.columns, everything, single=several is None)
    frames, types = {}, {}
    for name, table in everything.items():
        choice = choices.get(name)
        chosen = None if choice is None or isinstance(choice, Mapping) else _with_ids(name, choice, declared)
        typed = (
            {str(key): _check_type(key, kind) for key, kind in choice.items()} if isinstance(choice, Mapping) else {}
        )
        frames[name] = read_frame(name, table, chosen, {**typed, **_list_texts(name, declared)})
        for column, kind in typed.items():
            if column not in frames[name].column_names:
                raise unknown_column(column, frames[name].column_names)
            types[name, column] = kind
    return GivenTables(frames, frozenset(public), several is None, types)


def read_unit(given: GivenTables, written: str) -> Unit:
    """Whose presence is hidden: "row", a column of the one table, or "table.column"."""
    if written == EACH_ROW:
        named = [name for name in given.private if EACH_ROW in given.frames[name].column_names]
        if named:
            why = "is a column of the table, and as a unit it means that every row is hidden by itself"
            raise Refusal(f"Unit {EACH_ROW}", why, "rename the column", code="ambiguous_unit")
        return ROW
    if given.single:
        if written not in given.frames[TABLE].column_names:
            raise unknown_column(written, given.frames[TABLE].column_names)
        return Unit(TABLE, written)
    table, _, column = written.partition(".")
    if table not in given.private or column not in given.frames[table].column_names:
        why = f"does not name a column of a private table: they are {', '.join(given.private)}"
        having = [name for name in given.private if written in given.frames[name].column_names] or given.private[:1]
        example = f"{having[0]}.{written if written in given.frames[having[0]].column_names else 'person_id'}"
        raise Refusal(f"Unit {written}", why, f'write unit="{example}"', code="bad_unit")
    return Unit(table, column)


def read_links(given: GivenTables, unit: Unit, written: Mapping[str, str]) -> dict[str, Link]:
    """How the rows of every other private table find their person: "column", or "column -> table.column"."""
    links: dict[str, Link] = {}
    for name in given.private if unit != ROW else ():
        if name != unit.table and name not in written:
            why, fix = (
                "does not say how its rows find their person",
                f"pass {_example_link(name, unit)}, or public={{...}}",
            )
            raise Refusal(f"Table {name}", why, fix, code="bad_link")
    for name, text in written.items():
        link = read_link(text if "->" in str(text) else f"{text} -> {unit}")
        known = name in given.private and link is not None and link.parent in given.private
        if not known or name == unit.table or unit == ROW:
            fix = f"link the other private tables to it: {_example_link('visits', unit)}"
            raise Refusal(f"The link of {name}", "does not lead from a private table to another", fix, code="bad_link")
        assert link is not None  # noqa: S101 - something was written
        for table, column in ((name, link.column), (link.parent, link.parent_column)):
            if column not in given.frames[table].column_names:
                raise unknown_column(f"{table}.{column}", given.frames[table].column_names)
        links[name] = link
    return links


def _example_link(table: str, unit: Unit) -> str:
    return f'links={{"{table}": "{unit.column} -> {unit}"}}'


def _list_choices(columns: object, tables: Mapping[str, object], *, single: bool) -> Mapping[str, Choice]:
    """The choice of columns of each table."""
    if columns is None:
        return {}
    if isinstance(columns, str):
        raise Refusal("columns", "is a text, and not a list", f'write columns=["{columns}"]', code="bad_column")
    if single:
        return {TABLE: columns}  # type: ignore[dict-item]  # names, or names with types
    if not isinstance(columns, Mapping) or not columns.keys() <= tables.keys():
        why, fix = "does not name the tables", 'write columns={"people": ["age", "city"]}'
        raise Refusal("columns", why, fix, code="unknown_table")
    return columns


def _with_ids(table: str, choice: Sequence[str], declared: Declared) -> list[str]:
    """The chosen columns, and those by which rows find their person."""
    links = {name: read_link(text if "->" in text else f"{text} -> .") for name, text in declared.links.items()}
    ids = [link.column for name, link in links.items() if link is not None and name == table]
    ids += [link.parent_column for link in links.values() if link is not None and link.parent == table]
    owner, _, column = declared.unit.partition(".")
    ids += [declared.unit] if table == TABLE and declared.unit != EACH_ROW else [column] if owner == table else []
    return list(dict.fromkeys([*ids, *map(str, choice)]))


def _list_texts(table: str, declared: Declared) -> dict[str, str]:
    """The columns of a table that are texts because their values are listed."""
    return {str(key).removeprefix(f"{table}."): "category" for key in declared.categories}


def _check_type(column: str, kind: object) -> str:
    if kind not in COLUMNS:
        hint = did_you_mean(SYNONYMS.get(str(kind).lower(), str(kind)), COLUMNS) or "choose another"
        fix = f"{hint} (the types are {', '.join(COLUMNS)})"
        raise Refusal(f"The type of {column}", f"is none: {kind}", fix, code="bad_column")
    return str(kind)
