"""Questions to begin with, from what the catalog declares: for any catalog, and none of them is refused."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from adomnia.console.data.candidates import Candidates, list_steps
from adomnia.console.data.joins import find_join
from adomnia.console.data.links import list_links
from adomnia.explaining.sql_text import choose_alias, quote_identifier, quote_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.catalog.model import Catalog, Table
    from adomnia.console.data.joins import JoinOffer
    from adomnia.console.data.links import TableLink

_MOST, _MOST_FIRST, _MOST_JOINS = 8, 3, 2  # of a catalog: in all, of its people, of tables that meet
_MOST_DESCRIBED = 4  # columns of a summary


@dataclass(frozen=True)
class Example:
    """A question in words and in SQL; one about public tables alone is free."""

    title: str
    sql: str
    free: bool = False


def list_examples(catalog: Catalog) -> tuple[Example, ...]:
    """A few questions about the whole catalog: the people first, then how tables meet, then all other tables."""
    tables = sorted(catalog.tables, key=lambda table: (table.public, table.name != catalog.unit.table))
    first, *others = map(examples_of, tables[:_MOST])
    links = list_links(catalog)
    joined = chain.from_iterable(joined_examples(catalog, table, links) for table in tables if not table.public)
    rest = (example for turn in zip_longest(*others) for example in turn if example is not None)
    chosen = chain(first[:_MOST_FIRST], first[-1:], islice(joined, _MOST_JOINS), rest, first, joined)
    return tuple(example for example, _ in zip(dict.fromkeys(chosen), range(_MOST), strict=False))


def examples_of(table: Table) -> tuple[Example, ...]:
    """Questions about one table."""
    writer = _Writer(table, Candidates.find(table))
    return tuple(writer.write_public() if table.public else writer.write_private())


def joined_examples(catalog: Catalog, table: Table, links: Sequence[TableLink]) -> Iterator[Example]:
    """Counts of the rows of a private table by a category of each one that it leads to."""
    for name in dict.fromkeys(link.target for link in links if link.table == table.name):
        other = catalog.table(name)
        join = None if other is None else find_join(table, other, links)
        if other is not None and join is not None:
            yield from _count_joined(table, other, join)


def _count_joined(table: Table, other: Table, join: JoinOffer) -> Iterator[Example]:
    candidates = Candidates.find(other)
    keys = [key for key in candidates.categories if key != join.right_column]
    for key in keys[:1]:
        rows, written = (
            choose_alias(table.name, candidates.names),
            f"{quote_identifier(other.name)}.{quote_identifier(key)}",
        )
        sql = f"SELECT {written}, COUNT(*) AS {rows}\nFROM {join.clause}\nGROUP BY {written}"
        yield Example(f"{_capital(table.name)} by {_plain(key)} of {_plain(other.name)}", sql)


@dataclass(frozen=True)
class _Writer:
    """Writes the questions about a table: each only if there is a column that it suits."""

    table: Table
    candidates: Candidates

    def write_private(self) -> Iterator[Example]:
        yield from self._count()
        yield from self._average()
        yield from self._count_by_steps()
        yield from self._count_by_time()
        yield from self._halve()
        yield from self._share()
        yield from self._count_people()
        yield from self._describe()
        yield from self._fit_line()

    def write_public(self) -> Iterator[Example]:
        yield Example(f"The first rows of {_plain(self.table.name)}", f"SELECT *\n{self._from}\nLIMIT 100", free=True)
        repeats = dict(zip((column.name for column in self.table.columns), self.table.repeats, strict=False))
        for key in [each for each in self.candidates.categories if repeats.get(each, 1) > 1][:1]:
            yield Example(f"{self._rows} by {_plain(key)}", self._grouped(key, "COUNT(*)", self.table.name), free=True)

    @property
    def _rows(self) -> str:
        return _capital(self.table.name)

    @property
    def _from(self) -> str:
        return f"FROM {quote_identifier(self.table.name)}"

    def _grouped(self, key: str | None, aggregate: str, alias: str) -> str:
        named = f"{aggregate} AS {choose_alias(alias, self.candidates.names)}"
        if key is None:
            return f"SELECT {named}\n{self._from}"
        return f"SELECT {quote_identifier(key)}, {named}\n{self._from}\nGROUP BY {quote_identifier(key)}"

    def _count(self) -> Iterator[Example]:
        key = self.candidates.many
        title = f"{self._rows} by {_plain(key)}" if key else f"How many {_plain(self.table.name)} there are"
        yield Example(title, self._grouped(key, "COUNT(*)", self.table.name))

    def _average(self) -> Iterator[Example]:
        if (measure := self.candidates.measure) is not None:
            key = self.candidates.few
            title = f"Mean {_plain(measure)}" + (f" by {_plain(key)}" if key else "")
            yield Example(title, self._grouped(key, f"AVG({quote_identifier(measure)})", f"mean {measure}"))

    def _count_by_steps(self) -> Iterator[Example]:
        if (number := self.candidates.stepped) is not None:
            steps = list_steps(number, self.candidates.names)
            name, rows = steps.alias, choose_alias(self.table.name, self.candidates.names | {steps.alias})
            sql = f"SELECT {steps.sql} AS {name}, COUNT(*) AS {rows}\n{self._from}\nGROUP BY {name}"
            yield Example(f"{self._rows} by {_plain(number.name)}, in steps of {steps.width}", sql)

    def _count_by_time(self) -> Iterator[Example]:
        if (part := self.candidates.time) is not None:
            rows = choose_alias(self.table.name, self.candidates.names | {part.alias})
            sql = f"SELECT {part.sql} AS {part.alias}, COUNT(*) AS {rows}\n{self._from}\nGROUP BY {part.alias}"
            yield Example(f"{self._rows} by {part.says}", sql)

    def _halve(self) -> Iterator[Example]:
        if (measure := self.candidates.measure) is not None:
            yield Example(
                f"Median {_plain(measure)}",
                self._grouped(None, f"MEDIAN({quote_identifier(measure)})", f"median {measure}"),
            )

    def _share(self) -> Iterator[Example]:
        if self.candidates.truth is not None:
            condition, says = quote_identifier(self.candidates.truth), _plain(self.candidates.truth)
        elif self.candidates.value is not None:
            column, value = self.candidates.value
            condition, says = f"{quote_identifier(column)} = {quote_text(value)}", f"{_plain(column)} {value}"
        else:
            return
        yield Example(
            f"Share of {_plain(self.table.name)} with {says}", self._grouped(None, f"AVG({condition})", "share")
        )

    def _count_people(self) -> Iterator[Example]:
        person = self.candidates.person
        if person is not None and self.table.rows_per_person > 1:
            sql = self._grouped(None, f"COUNT(DISTINCT {quote_identifier(person)})", "people")
            yield Example(f"People with {_plain(self.table.name)}, each counted once", sql)

    def _describe(self) -> Iterator[Example]:
        """A summary, for which everybody must be one row: of each person's own mean where they have several."""
        person, numbers = self.candidates.person, self.candidates.numbers[:_MOST_DESCRIBED]
        if not numbers:
            return
        if self.table.rows_per_person == 1:
            columns = ", ".join(map(quote_identifier, numbers))
            yield Example(_summarise(numbers), f"SELECT *\nFROM summary((SELECT {columns} {self._from}))")
        elif person is not None:
            column = quote_identifier(numbers[0])
            rows = f"SELECT AVG({column}) AS {column} {self._from} GROUP BY {quote_identifier(person)}"
            yield Example(f"{_summarise(numbers[:1])}, the mean of each person", f"SELECT *\nFROM summary(({rows}))")

    def _fit_line(self) -> Iterator[Example]:
        """A linear model of a number by another one and a short list; formulas take plain names alone."""
        numbers = [name for name in self.candidates.numbers if quote_identifier(name) == name]
        outcome = self.candidates.measure
        if self.table.rows_per_person > 1 or outcome not in numbers or len(numbers) < 2:
            return
        few = self.candidates.few
        factors = (
            [few] if few is not None and few in self.candidates.categories and quote_identifier(few) == few else []
        )
        terms = [next(name for name in numbers if name != outcome), *factors]
        rows = f"(SELECT {', '.join([outcome, *terms])} {self._from})"
        sql = f"SELECT *\nFROM lm({rows}, formula => '{outcome} ~ {' + '.join(terms)}')"
        yield Example(f"How {_plain(outcome)} goes with {_enumerate(terms)}", sql)


def _summarise(names: Sequence[str]) -> str:
    return f"Summary of {_enumerate(names)}"


def _enumerate(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(map(_plain, names[:-1])), _plain(names[-1]))))


def _plain(name: str) -> str:
    """A name as a word of a sentence."""
    return name.replace("_", " ").strip() or name


def _capital(name: str) -> str:
    plain = _plain(name)
    return plain[:1].upper() + plain[1:]
