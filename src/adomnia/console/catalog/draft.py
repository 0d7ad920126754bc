"""A catalog that somebody is editing: it travels with the form, and nothing is kept on the server until it is saved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adomnia.api.catalog_edits.edits import add_section, remove_key, remove_section, set_value
from adomnia.api.catalog_edits.examining import parse_toml
from adomnia.catalog.document_keys import NAME
from adomnia.console.catalog.fields import read_path
from adomnia.console.catalog.parts import EditorPart, find_part, list_parts
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.catalog.toml_places import Path as KeyPath


@dataclass(frozen=True)
class CatalogDraft:
    """The text so far, the part that is shown, and what was typed into its fields; `base` is what it began from."""

    text: str
    base: str
    part: str = ""
    typed: Mapping[KeyPath, str] = field(default_factory=dict)
    remove: bool = False
    go: str = ""

    @classmethod
    def from_fields(cls, form: Mapping[str, str]) -> CatalogDraft:
        """What a form sent."""
        text = form.get("text", "").replace("\r\n", "\n")
        typed = {path: value for name, value in form.items() if (path := read_path(name)) is not None}
        remove = form.get("remove") == "yes"
        return cls(text, form.get("base", ""), form.get("part", ""), typed, remove, form.get("go", ""))

    @property
    def content(self) -> dict[str, Any] | None:
        """The data of the text; None if it is no TOML."""
        try:
            return parse_toml(self.text)
        except Refusal:
            return None

    def find_part(self) -> EditorPart:
        """The part that is shown."""
        return find_part(list_parts(self.content), self.part)

    def apply(self) -> CatalogDraft:
        """The draft with what was typed in its text, at the part to show next; a Refusal where that cannot be."""
        part, content = self.find_part(), self.content
        if part.name != self.part or content is None:
            return replace(self, typed={}, go="", part=self.go or part.name)
        if self.remove and part.removes:
            done = replace(self, text=remove_section(self.text, part.removes), part=self.go)
        elif part.adds:
            done = self._add(part)
        else:
            done = self._change(part, content)
        return replace(done, typed={}, remove=False, go="", part=self.go or done.part)

    def _change(self, part: EditorPart, content: Mapping[str, Any]) -> CatalogDraft:
        text, tables = self.text, content.get("tables", {})
        for each in part.fields:
            typed = self.typed.get(each.path)
            if typed is None or typed.strip().replace("\r\n", "\n") == each.value.strip():
                continue
            literal = each.write(typed, tables)
            if literal is not None:
                text = set_value(text, each.path, literal)
            elif each.value:
                text = remove_key(text, each.path)
        return replace(self, text=text)

    def _add(self, part: EditorPart) -> CatalogDraft:
        name = self.typed.get((part.adds, "", "name"), "").strip()
        literals = {
            each.path[-1]: literal
            for each in part.fields[1:]
            if (literal := each.write(self.typed.get(each.path, ""), ())) is not None
        }
        if not name and not literals:
            return self
        if not NAME.holds(name):
            raise Refusal("The name", f"must be {NAME.says}", "write another")
        if name in (self.content or {}).get(part.adds, {}):
            raise Refusal(name, "is there already", "write another name, or change that one")
        return replace(self, text=add_section(self.text, (part.adds, name), literals), part=f"{part.adds}/{name}")
