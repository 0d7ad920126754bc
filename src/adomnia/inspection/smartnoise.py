"""Converts SmartNoise's YAML metadata to a catalog.toml; what it does not declare is left for the owner to fill in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.catalog.document_keys import COLUMNS, NAME, PRIVATE_CAP, did_you_mean
from adomnia.catalog.model import RESERVED
from adomnia.catalog.write import Draft, as_name, compose, toml_string, type_of
from adomnia.errors import Refusal, install_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

Path: TypeAlias = tuple[str, ...]
Mapping: TypeAlias = dict[str, Any]

_TYPES = ("int", "float", "string", "boolean", "datetime")
_DEEPEST = 3  # collection, schema, table; deeper, an alias could go round in a circle
_BOUNDS = ("lower", "upper")
_CAPS = ("max_ids", "max_contrib")
_ROW = 'unit = "row"                 # as row_privacy says: one row is hidden, not one person who has several'
# What has no counterpart here, and why nothing is lost by it.
_LEFT_OUT = {
    "rows": "the number of rows is private",
    "sample_max_ids": "the cap is always enforced",
    "clamp_columns": "bounded columns are always clamped",
    "clamp_counts": "answers come with intervals instead",
    "censor_dims": "declared groups all come back",
    "use_dpsu": "declared groups all come back",
    "name": "the key is the name",
    "nullable": "every column may hold NULL",
    "missing_value": "a NULL contributes nothing and is not replaced",
    "sensitivity": "it follows from the bounds",
    "cardinality": "list the values of a category instead",
    "bounded": "it follows from the bounds",
}
_TABLE_KEYS = ("row_privacy", *_CAPS, *_LEFT_OUT)
_COLUMN_KEYS = ("type", "private_id", *_BOUNDS, *_LEFT_OUT)


@dataclass(frozen=True)
class _SmartNoiseTable:
    path: Path
    options: Mapping
    columns: dict[str, Mapping]
    person: str | None
    rows_per_person: int

    @property
    def name(self) -> str:
        return as_name(self.path[-1])


def from_smartnoise(text: str) -> str:
    """Convert SmartNoise metadata to the text of a catalog.toml; budgets, analysts and files are left to fill in."""
    metadata = _Metadata(text)
    tables = [metadata.table(path, content) for path, content in metadata.tables()]
    if not tables:
        raise metadata.refusal((), "holds no table", "give it schema, table and columns, each column with its type")
    if len({table.name.lower() for table in tables}) < len(tables):
        raise metadata.refusal((), "has two tables of one name", "rename one, or import their schemas one by one")
    by_row = {table.options.get("row_privacy") is True for table in tables}
    if len(by_row) > 1:
        raise metadata.refusal((), "hides rows in one table and people in another", "import them one by one")
    dataset = next((part for part in tables[0].path[-2::-1] if part), tables[0].name)
    if by_row == {True}:
        return compose(dataset, _ROW, [_draft(table, []) for table in tables])
    own = metadata.own_table(tables)
    unit = f"{own.name}.{own.person}"
    return compose(dataset, f"unit = {toml_string(unit)}", [_draft(table, _part(table, own, unit)) for table in tables])


def _load_yaml() -> Any:  # noqa: ANN401 - PyYAML has no types of its own
    """The library that reads YAML: an extra, because nothing else here is written in it."""
    try:
        import yaml  # type: ignore[import-untyped] # see above
    except ImportError:
        fix = install_extra("smartnoise")
        raise Refusal("SmartNoise metadata", "needs the package PyYAML, which is not installed", fix) from None
    return yaml


class _Metadata:
    """The YAML text as data, and the refusals that point into it."""

    def __init__(self, text: str) -> None:
        yaml = _load_yaml()
        try:
            self.root = yaml.compose(text, Loader=yaml.SafeLoader)
            self.content = yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = None if mark is None else (mark.line + 1, mark.column + 1)
            why, fix = "is not YAML", "correct it there; tabs and missing spaces after a colon are common"
            raise Refusal("The SmartNoise metadata", why, fix, place) from None
        known: set[Path] = set()
        for path, place in _marks(self.root, ()):
            if path in known:  # YAML's reader would take the last, and say nothing
                what = f"{'.'.join(filter(None, path))} in the SmartNoise metadata"
                raise Refusal(what, "is given twice", "remove one of them", place)
            known.add(path)

    def refusal(self, path: Path, why: str, fix: str) -> Refusal:
        what = f"{'.'.join(filter(None, path))} in the SmartNoise metadata" if path else "The SmartNoise metadata"
        return Refusal(what, why, fix, dict(_marks(self.root, ())).get(path))

    def tables(self) -> Iterator[tuple[Path, Mapping]]:
        return _tables((), self.content if isinstance(self.content, dict) else {})

    def table(self, path: Path, content: Mapping) -> _SmartNoiseTable:
        columns = {name: value for name, value in content.items() if isinstance(value, dict)}
        options = {name: value for name, value in content.items() if not isinstance(value, dict)}
        self._check_keys(path, options, _TABLE_KEYS)
        for name, column in columns.items():
            self._check_column((*path, name), column)
        persons = [name for name, column in columns.items() if column.get("private_id") is True]
        if options.get("row_privacy") is not True and len(persons) != 1:
            why = f"has {len(persons)} columns with private_id: true and no row_privacy: true"
            raise self.refusal(path, why, "mark the one column that names a person, or set row_privacy: true")
        return _SmartNoiseTable(path, options, columns, persons[0] if persons else None, self._cap(path, options))

    def own_table(self, tables: list[_SmartNoiseTable]) -> _SmartNoiseTable:
        own = tables[0] if len(tables) == 1 else next((t for t in tables if t.rows_per_person == 1), None)
        if own is None:
            fix = "add a table with max_ids: 1 that has one row a person, or import the tables one by one"
            raise self.refusal((), "has several tables, and in none of them one row a person", fix)
        return own

    def _check_keys(self, path: Path, given: Mapping, known: tuple[str, ...]) -> None:
        for name in given:
            if name not in known:
                fix = f"{did_you_mean(str(name), known) or 'remove it'} (known are {', '.join(known)})"
                raise self.refusal((*path, str(name)), "is no key of SmartNoise", fix)

    def _check_column(self, path: Path, column: Mapping) -> None:
        self._check_keys(path, column, _COLUMN_KEYS)
        if column.get("type") not in _TYPES:
            why = f"has no type that SmartNoise knows: {column.get('type')}"
            raise self.refusal(path, why, f"use {', '.join(_TYPES)}")
        rules = {key.name: key.rule for key in COLUMNS[str(type_of(column["type"]))].keys}
        for bound in _BOUNDS:
            if bound in column and bound in rules and not rules[bound].holds(column[bound]):
                raise self.refusal((*path, bound), f"must be {rules[bound].says}, got {column[bound]}", "correct it")

    def _cap(self, path: Path, options: Mapping) -> int:
        rule = PRIVATE_CAP.key("max").rule
        for name in _CAPS:
            if name in options:
                if not rule.holds(options[name]):
                    raise self.refusal((*path, name), f"must be {rule.says}, got {options[name]}", "correct it")
                return int(options[name])
        return 1


def _marks(node: Any, path: Path) -> Iterator[tuple[Path, tuple[int, int]]]:  # noqa: ANN401 - PyYAML has no types
    inside = getattr(node, "id", "") == "mapping" and len(path) <= _DEEPEST
    for key, value in node.value if inside else ():
        mark = key.start_mark
        yield (*path, key.value), (mark.line + 1, mark.column + 1)
        yield from _marks(value, (*path, key.value))


def _tables(path: Path, node: Mapping) -> Iterator[tuple[Path, Mapping]]:
    """Find the tables: what has a type is a column, what holds columns is a table, above them are schemas."""
    for name, child in node.items():
        if not isinstance(child, dict) or len(path) == _DEEPEST:
            continue
        below = (*path, str(name))
        if any(isinstance(value, dict) and isinstance(value.get("type"), str) for value in child.values()):
            yield below, child
        else:
            yield from _tables(below, child)


def _part(table: _SmartNoiseTable, own: _SmartNoiseTable, unit: str) -> list[str]:
    assumed = "" if any(cap in table.options for cap in _CAPS) else "  # SmartNoise's default; max_ids was not given"
    rows = f"rows_per_person = {table.rows_per_person}{assumed}"
    link = f'person = "{table.person} -> {unit}"  # check that both columns name the same people'
    return [rows] if table is own else [link, rows]


def _draft(table: _SmartNoiseTable, part: list[str]) -> Draft:
    source = f"{table.path[-1]}.csv"
    keys = ["# SmartNoise names no file: correct the line above", *part, *_left_out(table.name, table.options)]
    return Draft(table.name, source, keys, _columns(table.columns))


def _columns(columns: dict[str, Mapping]) -> Iterator[str]:
    for name, column in columns.items():
        if NAME.holds(name) and name.lower() not in RESERVED:
            yield f"{name} = {{ {', '.join(_keys(column))} }}"
        else:
            why = "rename it in the file, the name is not free or not well formed"
            yield f"# {toml_string(str(name))} is left out: {why}"
        yield from _left_out(str(name), column)


def _keys(column: Mapping) -> list[str]:
    kind = "id" if column.get("private_id") is True else str(type_of(column["type"]))
    bounds = [f"{bound} = {column[bound]}" for bound in _BOUNDS if bound in column]
    return [f'type = "{kind}"', *(bounds if len(bounds) == 2 and "lower" in COLUMNS[kind].names() else [])]


def _left_out(name: str, given: Mapping) -> Iterator[str]:
    alone = [bound for bound in _BOUNDS if bound in given]
    reasons = {**_LEFT_OUT, **(dict.fromkeys(alone, "both bounds are needed") if len(alone) == 1 else {})}
    return (f"# {toml_string(f'{name}.{key}')} is left out: {reasons[key]}" for key in given if key in reasons)
