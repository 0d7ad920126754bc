"""Private tables in Python: rows to filter and join, never to see. Data is read when an aggregate is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.explaining.reasons import render_reasons
from adomnia.session.aggregates import Aggregates, list_keys, write_outputs
from adomnia.session.method_calls import MethodCalls, write_call
from adomnia.sql.reading.parameters import bind
from adomnia.sql.reading.select_builder import SelectBuilder
from adomnia.sql.rows.blocks import person_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from adomnia.methods.contract import Method
    from adomnia.session.aggregates import SqlOptions, Wanted
    from adomnia.session.answer import Answer
    from adomnia.session.queries import Queries
    from adomnia.sql.reading.parameters import Parameters


class PrivateTable(Aggregates, MethodCalls):
    """A private relation. Each step gives another one; `count`, `mean`, `lm` and their like spend.

    It means what its `sql` says: both have one plan, and so one price and one answer.
    """

    def __init__(self, session: Queries, writing: SelectBuilder) -> None:
        self._session, self._writing = session, writing

    @property
    def sql(self) -> str:
        """The SELECT that means the same rows."""
        return self._writing.text

    def where(self, condition: str, parameters: Parameters | None = None) -> PrivateTable:
        """The rows for which a condition is true; `parameters` are the values of ? or :name in it."""
        return self._with(self._writing.where(bind(condition, parameters)))

    def join(self, other: PrivateTable, on: str, how: str = "inner") -> PrivateTable:
        """Pairs with rows of another table: `on` is a condition, or the name of a column that both have."""
        return self._with(self._writing.join(other._writing, on, how))

    def select(self, *columns: str, **named: str) -> PrivateTable:
        """Columns by name, and expressions under new names."""
        return self._with(self._writing.select(columns, named))

    def union(self, other: PrivateTable) -> PrivateTable:
        """The rows of both, one after the other."""
        return self._with(self._writing.union(other._writing))

    def named(self, name: str) -> PrivateTable:
        """The same rows under another name, to join a table with itself."""
        return self._with(self._writing.alias(name))

    def per_person(self, *keys: str, having: str | None = None, **named: str) -> PrivateTable:
        """One row for each person, and each value of further keys: aggregates of that person's own rows."""
        person = person_of(self._writing.text, self._session.catalog())
        return self._with(self._writing.group_by((person, *keys), named, having))

    def explain(self) -> str:
        """How many rows of one person can be here at most, step by step; nothing is read."""
        return render_reasons(rows_of(self._writing.text, self._session.catalog()).relation)

    def group_by(self, *keys: str) -> GroupedTable:
        """The same rows, to be asked about for each value of the keys."""
        return GroupedTable(self, keys)

    def _ask(self, wanted: Mapping[str, Wanted], by: str | Iterable[str], options: SqlOptions) -> Answer:
        return self._session.sql(self._writing.question(write_outputs(wanted), list_keys(by)), **options)

    def _call(self, method: Method, arguments: dict[str, Any], options: SqlOptions) -> Answer:
        return self._session.sql(write_call(self._writing.text, method, arguments), **options)

    def _with(self, writing: SelectBuilder) -> PrivateTable:
        return PrivateTable(self._session, writing)

    def __repr__(self) -> str:
        return f"PrivateTable({self.sql})"


class GroupedTable(Aggregates, MethodCalls):
    """Private rows in groups: `agg`, `count`, `mean` and their like give a row for each group, and spend."""

    def __init__(self, table: PrivateTable, keys: tuple[str, ...]) -> None:
        self._table, self._keys = table, keys

    def _ask(self, wanted: Mapping[str, Wanted], by: str | Iterable[str], options: SqlOptions) -> Answer:
        return self._table._ask(wanted, (*self._keys, *list_keys(by)), options)

    def _call(self, method: Method, arguments: dict[str, Any], options: SqlOptions) -> Answer:
        if method.parameter("by") is None:
            fix = "filter the rows of each group with where(), and ask for each"
            raise Refusal(f"{method.name}()", "is not repeated for each group", fix, code="unknown_argument")
        return self._table._call(
            method, {**arguments, "by": (*self._keys, *list_keys(arguments.get("by", ())))}, options
        )

    def __repr__(self) -> str:
        return f"GroupedTable({self._table.sql}; by {', '.join(self._keys)})"


def open_table(session: Queries, name: str) -> PrivateTable:
    """A table or view of the catalog."""
    catalog = session.catalog()
    names = [table.name for table in catalog.tables] + [view.name for view in catalog.views]
    known = {each.lower(): each for each in names}
    if name.lower() not in known:
        fix = f"name one of them: {', '.join(known.values())}"
        raise Refusal(f"Table {name}", "is not in the catalog", fix, code="unknown_table")
    return PrivateTable(session, SelectBuilder(known[name.lower()], known[name.lower()]))
