"""Where rows come from, and whether they are of the types that the catalog declares."""

from collections.abc import Mapping
from dataclasses import dataclass

from adomnia.catalog.model import Table
from adomnia.engines.contract import index_name
from adomnia.engines.dialect import Dialect, SourceTypes
from adomnia.errors import Refusal
from adomnia.privacy.kinds import Boolean, Day, Identity, Kind, Moment, Quantity, Text


@dataclass(frozen=True)
class TableSource:
    """SQL that yields the rows of a table, the engine's type of each column, and what to call it in a message.

    The rows have the columns that are declared, under the names that the index gives them; `types` has them by the
    names of the catalog. `spelled` says that every value is text still to be read, as in a CSV file.
    """

    name: str
    relation: str
    types: Mapping[str, str]
    dialect: Dialect
    spelled: bool = False

    def type_of(self, column: str) -> str:
        """The engine's type of a column, without its parameters."""
        types = {name.lower(): kind for name, kind in self.types.items()}
        return types[column.lower()].split("(")[0]

    def sort_of(self, column: str) -> str | None:
        """What its keys can be compared with: numbers with numbers, text with text; None where it is all still text."""
        held, known = self.type_of(column), self.dialect.sources
        if self.spelled or held == known.empty:
            return None
        return "a number" if held in known.numbers else "text" if held in known.texts else held

    def is_whole(self, column: str) -> bool:
        """Whether a column holds integers of at most 64 bits."""
        return self.type_of(column) in self.dialect.sources.whole

    def is_text(self, column: str) -> bool:
        """Whether a column holds text, whatever it is declared as."""
        return self.type_of(column) in self.dialect.sources.texts

    def check(self, table: Table) -> None:
        """Refuse a source that lacks a declared column or holds another type; the message names no value."""
        names, known = {name.lower() for name in self.types}, self.dialect.sources
        for column in table.columns:
            what = f"Column {table.name}.{column.name}"
            if column.name.lower() not in names:
                raise _missing(what, self.name, table.source_column(column.name).name, column.name)
            held, formatted = self.type_of(column.name), table.source_column(column.name).format is not None
            readable = _accepted(column.kind, known) | {known.empty} | (known.texts if formatted else frozenset())
            if not self.spelled and held not in readable:
                why = f"is declared as {column.kind}, and {self.name} holds {held}"
                raise Refusal(what, why, "declare what the file holds, or convert the file")


def _missing(what: str, source: str, called: str, name: str) -> Refusal:
    if called != name:
        return Refusal(what, f'is declared with column = "{called}", and {source} has none', "correct the catalog")
    fix = f'correct the catalog, or say what the file calls it: column = "..." in the line of {name}'
    return Refusal(what, f"is declared, and {source} has none of that name", fix)


def _accepted(kind: Kind, known: SourceTypes) -> frozenset[str]:
    """The types of a source that can be read as a kind."""
    keys = known.texts | known.other_keys | known.whole | known.wide
    accepted: dict[type[Kind], frozenset[str]] = {
        Quantity: known.numbers,
        Boolean: known.booleans,
        Text: keys,
        Day: known.moments,
        Moment: known.moments | known.texts,
        Identity: keys | known.numbers | known.moments | known.booleans,
    }
    return accepted[type(kind)]


def render_key(column: str, source: TableSource) -> str:
    """A key as text that is the same for equal keys, whichever type a file stores them in."""
    dialect, held = source.dialect, source.type_of(column)
    name = dialect.quote(index_name(column))
    if source.spelled:
        return dialect.index.spelled_key.format(name)
    if held in dialect.sources.decimals:
        return dialect.index.decimal_key.format(name)
    if held in dialect.sources.doubles:
        return dialect.index.double_key.format(name)
    return dialect.index.read_as.format(name, dialect.types.text)
