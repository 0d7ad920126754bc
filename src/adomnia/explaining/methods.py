"""Methods in words: the list of all of them, a page of each, and the reference of docs/statistics.md."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.messages.fixes import guess, tell
from adomnia.methods.registry import METHODS
from adomnia.methods.signatures import method_record
from adomnia.tables import TextTable, html_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

CHAPTERS = {
    "describe": "Describe",
    "densities": "Histograms and densities",
    "likelihood": "Likelihood",
    "models": "Models",
    "testing": "Tests",
    "survival": "Survival",
    "robust": "Robust estimators",
    "releases": "Releases",
}


@dataclass(frozen=True, repr=False)
class MethodPage:
    """All that is to know of a method before it is asked: arguments, columns, an example, names elsewhere."""

    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What it is called in questions."""
        return str(self.record["name"])

    def __repr__(self) -> str:
        parts = [self._title, "", str(self._arguments), "", str(self._columns), "", *self._rest]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return (
            html_lines([self._title])
            + self._arguments.html()
            + self._columns.html()
            + html_lines(filter(None, self._rest))
        )

    @property
    def _title(self) -> str:
        return f"{self.name}: {self.record['summary']}"

    @property
    def _arguments(self) -> TextTable:
        rows = tuple(
            (each["name"], each["takes"], _default(each), each["meaning"]) for each in self.record["parameters"]
        )
        return TextTable(("Argument", "Takes", "Default", "Meaning"), rows, frozenset())

    @property
    def _columns(self) -> TextTable:
        return TextTable(("Column", "Meaning"), tuple(self.record["returns"].items()), frozenset())

    @property
    def _rest(self) -> list[str]:
        elsewhere = "; ".join(f"{program}: {name}" for program, name in self.record["known_as"].items())
        lines = ["Example:", f"  {self.record['example']}"]
        return [*self.record["notes"], *([f"Elsewhere: {elsewhere}."] if elsewhere else []), *lines]


class MethodList(tuple[MethodPage, ...]):
    """All methods, in the order of the registry."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self._table)

    def _repr_html_(self) -> str:
        return self._table.html()

    def page(self, name: str) -> MethodPage:
        """The page of a method; a Refusal where there is none of that name."""
        found = {each.name: each for each in self}
        if name.lower() not in found:
            close = get_close_matches(name.lower(), found, n=1)
            fix = guess(close) if close else tell(f"there are {', '.join(found)}")
            raise Refusal(f"The method {name[:63]}", "is not known", fix, code="unknown_method")
        return found[name.lower()]

    @property
    def _table(self) -> TextTable:
        rows = tuple((each.name, each.record["chapter"], each.record["summary"]) for each in self)
        return TextTable(("Method", "Chapter", "What it does"), rows, frozenset())


def list_methods(records: Iterable[Mapping[str, Any]] | None = None) -> MethodList:
    """The methods of these records; without any, those that are here."""
    told = map(method_record, METHODS.values()) if records is None else records
    return MethodList(MethodPage(each) for each in told)


def _default(parameter: Mapping[str, Any]) -> str:
    if parameter["required"]:
        return "must be given"
    value = parameter["default"]
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def render_reference(methods: MethodList) -> str:
    """All methods by their chapters: arguments, columns, an example, names elsewhere."""
    records = [each.record for each in methods]
    lines = [*_contents(records)]
    for chapter, title in CHAPTERS.items():
        own = [record for record in records if record["chapter"] == chapter]
        lines += ["", f"## {title}"] if own else []
        for record in own:
            lines += _method(record)
    return "\n".join(lines) + "\n"


def _contents(records: list[Mapping[str, Any]]) -> Iterator[str]:
    yield "| method | what it does | in R | elsewhere |"
    yield "|---|---|---|---|"
    for record in records:
        others = "; ".join(f"{program}: {name}" for program, name in record["known_as"].items() if program != "R")
        link = f"[`{record['name']}`](#{record['name']})"
        yield f"| {link} | {record['summary']} | {record['known_as'].get('R', '')} | {others} |"


def _method(record: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"### `{record['name']}`", record["summary"], "", "```sql", record["example"], "```", "")
    yield from ("| argument | takes | default | meaning |", "|---|---|---|---|")
    for each in record["parameters"]:
        default = "must be given" if each["required"] else "" if each["default"] is None else f"`{each['default']}`"
        yield f"| `{each['name']}` | {each['takes']} | {default} | {each['meaning']} |"
    yield from ("", "| column | meaning |", "|---|---|")
    for name, meaning in record["returns"].items():
        yield f"| `{name}` | {meaning} |"
    for note in record["notes"]:
        yield from ("", note)
