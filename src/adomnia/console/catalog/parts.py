"""The parts of the guided editor: each section of the catalog, small enough for one form, and the text itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adomnia.console.catalog.fields import KEYS, EditorField, FormKey, list_column_keys, list_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adomnia.catalog.toml_places import Path as KeyPath

TEXT = "text"
_DATASET = ("version", "minimum_frequency", "vacuous_answers")
_BUDGET = ("epsilon", "delta", "approximate", "event_delta")
_ANALYST = ("epsilon", "delta", "policy", "questions", "spend", "keep", "ceiling", "largest_answer", "storage")
_NAME = FormKey("Name", "A letter or _, then letters, digits or _.", "text")
_MOST_COLUMNS = 60  # of one form: forms have a largest number of fields


@dataclass(frozen=True)
class FieldGroup:
    """Fields that belong together: those of one column, say."""

    title: str
    fields: tuple[EditorField, ...]
    about: str = ""


@dataclass(frozen=True)
class EditorPart:
    """A part of the editor; `heading` is what it stands under in the menu.

    `adds`: it is the form of a new section of that kind. `removes`: the section that it may remove.
    """

    name: str
    title: str
    heading: str
    groups: tuple[FieldGroup, ...] = ()
    adds: str = ""
    removes: KeyPath = ()

    @property
    def fields(self) -> tuple[EditorField, ...]:
        """All fields of all groups."""
        return tuple(field for group in self.groups for field in group.fields)


def list_parts(content: Mapping[str, Any] | None) -> list[EditorPart]:
    """The parts of a catalog; of a text that is no TOML there is only the text."""
    text = EditorPart(TEXT, "All of the text", "Text")
    if content is None:
        return [text]
    return [*_list_dataset(content), *_list_analysts(content), *_list_tables(content), *_list_views(content), text]


def find_part(parts: list[EditorPart], name: str) -> EditorPart:
    """The part of that name, or the first."""
    return next((part for part in parts if part.name == name), parts[0])


def _list_dataset(content: Mapping[str, Any]) -> Iterator[EditorPart]:
    for name, keys in (("dataset", _DATASET), ("budget", _BUDGET)):
        if name in content:
            fields = tuple(list_fields(content, (name,), keys))
            yield EditorPart(name, name.capitalize(), "Dataset", (FieldGroup("", fields),))


def _list_analysts(content: Mapping[str, Any]) -> Iterator[EditorPart]:
    for name in _names(content, "analysts"):
        path = ("analysts", name)
        fields = tuple(list_fields(content, path, _ANALYST))
        yield EditorPart(f"analysts/{name}", name, "Analysts", (FieldGroup("", fields),), removes=path)
    yield _new_part("analysts", "New analyst", _ANALYST)


def _list_tables(content: Mapping[str, Any]) -> Iterator[EditorPart]:
    for name in _names(content, "tables"):
        own, columns = _own_keys(content, name), list(_list_columns(content, name))
        pages = [columns[start : start + _MOST_COLUMNS] for start in range(0, len(columns), _MOST_COLUMNS)] or [[]]
        for number, page in enumerate(pages):
            groups = (*own, *page) if number == 0 else tuple(page)
            if groups:
                more = f", from column {number * _MOST_COLUMNS + 1}" if number else ""
                part = f"tables/{name}" + (f"/{number}" if number else "")
                yield EditorPart(part, name + more, "Tables", groups)


def _own_keys(content: Mapping[str, Any], table: str) -> tuple[FieldGroup, ...]:
    path, written = ("tables", table), content["tables"][table].get("rows_per_person")
    if isinstance(written, dict):
        fields = list_fields(content, (*path, "rows_per_person"), ("max", "epsilon"))
        profile = replace(fields[1], key=FormKey("Epsilon of the profile", "Paid once for each version."))
        return (FieldGroup("", (fields[0], profile)),)
    if written is None:
        return ()
    return (FieldGroup("", tuple(list_fields(content, path, ("rows_per_person",)))),)


def _list_columns(content: Mapping[str, Any], table: str) -> Iterator[FieldGroup]:
    columns = content["tables"][table].get("columns")
    for name, declared in columns.items() if isinstance(columns, dict) else ():
        keys = list_column_keys(declared)
        if keys:
            fields = tuple(list_fields(content, ("tables", table, "columns", name), keys))
            yield FieldGroup(name, fields, str(declared["type"]))


def _list_views(content: Mapping[str, Any]) -> Iterator[EditorPart]:
    for name in _names(content, "views"):
        path = ("views", name)
        group = FieldGroup("", tuple(list_fields(content, path, ("sql",))))
        yield EditorPart(f"views/{name}", name, "Views", (group,), removes=path)
    yield _new_part("views", "New view", ("sql",))


def _new_part(kind: str, title: str, keys: tuple[str, ...]) -> EditorPart:
    name = EditorField((kind, "", "name"), "", _NAME)
    fields = (name, *(EditorField((kind, "", key), "", KEYS[key]) for key in keys))
    return EditorPart(f"{kind}/", title, kind.capitalize(), (FieldGroup("", fields),), adds=kind)


def _names(content: Mapping[str, Any], kind: str) -> list[str]:
    section = content.get(kind)
    return [name for name, each in section.items() if isinstance(each, dict)] if isinstance(section, dict) else []
