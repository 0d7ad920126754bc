"""Private tables in Python: rows to filter and join, never to see. Data is read when an aggregate is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from adomnia.errors import Refusal
from adomnia.explaining.reasons import render_reasons
from adomnia.session.aggregates import Aggregates, list_keys, write_outputs
from adomnia.session.hints import refuse_item, refuse_of_rows
from adomnia.session.method_calls import MethodCalls, write_call
from adomnia.session.table_page import TablePage
from adomnia.sql.reading.parameters import bind
from adomnia.sql.reading.select_builder import SelectBuilder
from adomnia.sql.rows.blocks import person_of, rows_of
from adomnia.tables import html_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from adomnia.catalog.model import Catalog
    from adomnia.methods.contract import Method
    from adomnia.session.aggregates import SqlOptions, Wanted
    from adomnia.session.answer import Answer
    from adomnia.session.queries import Queries
    from adomnia.sql.reading.parameters import Parameters
    from adomnia.sql.rows.derived import Derived


class PrivateTable(Aggregates, MethodCalls):
    """A private relation. Each step gives another one; `count`, `mean`, `lm` and their like spend.

    It means what its `sql` says: both have one plan, and so one price and one answer.
    """

    def __init__(self, session: Queries, writing: SelectBuilder, catalog: Catalog | None = None) -> None:
        """`catalog` is the one that the table was found in: what it prints must not ask for it again."""
        self._session, self._writing, self._known = session, writing, catalog

    @property
    def columns(self) -> list[str]:
        """The names of the columns, which are public.

        >>> session.table("visits").select("hospital", monthly="cost / 12").columns
        ['hospital', 'monthly']
        """
        return list(self._rows.columns)

    @property
    def sql(self) -> str:
        """The SELECT that means the same rows.

        >>> session.table("people").where("age >= 18").sql
        'SELECT * FROM people WHERE (age >= 18)'
        """
        return self._writing.text

    def where(self, condition: str, parameters: Parameters | None = None) -> PrivateTable:
        """The rows for which a condition is true; `parameters` are the values of ? or :name in it.

        >>> adults = session.table("people").where("age >= ?", [18])
        >>> adults.sql
        'SELECT * FROM people WHERE (age >= 18)'
        """
        return self._with(self._writing.where(bind(condition, parameters)))

    def join(self, other: PrivateTable, on: str, how: str = "inner") -> PrivateTable:
        """Pairs with rows of another table: `on` is a condition, or the name of a column that both have.

        >>> visits = session.table("visits").join(session.table("people"), on="person_id")
        >>> visits.mean("cost", by="sex", epsilon=1)["sex"]
        ['F', 'M', 'X']
        """
        return self._with(self._writing.join(other._writing, on, how))

    def select(self, *columns: str, **named: str) -> PrivateTable:
        """Columns by name, and expressions under new names.

        >>> session.table("people").select("sex", monthly="salary / 12").columns
        ['sex', 'monthly']
        """
        return self._with(self._writing.select(columns, named))

    def union(self, other: PrivateTable) -> PrivateTable:
        """The rows of both, one after the other.

        >>> paid = session.table("people").select("person_id", amount="salary")
        >>> paid.union(session.table("visits").select("person_id", amount="cost")).columns
        ['person_id', 'amount']
        """
        return self._with(self._writing.union(other._writing))

    def named(self, name: str) -> PrivateTable:
        """The same rows under another name, to join a table with itself.

        >>> visits, later = session.table("visits"), session.table("visits").named("later")
        >>> both = visits.join(later, on="visits.person_id = later.person_id AND later.day > visits.day")
        >>> both.count(epsilon=1).columns
        ['count']
        """
        return self._with(self._writing.alias(name))

    def per_person(self, *keys: str, having: str | None = None, **named: str) -> PrivateTable:
        """One row for each person, and each value of further keys: aggregates of that person's own rows.

        >>> bills = session.table("visits").per_person(spent="SUM(cost)", visits="COUNT(*)")
        >>> bills.columns
        ['person_id', 'spent', 'visits']
        """
        person = person_of(self._writing.text, self._catalog)
        return self._with(self._writing.group_by((person, *keys), named, having))

    def explain(self) -> str:
        """How many rows of one person can be here at most, step by step; nothing is read.

        >>> print(session.table("visits").where("cost > 1000").explain())
        where (cost > 1000): at most 10 rows of a person, those of what it is made of
          visits: at most 10 rows of a person, as declared
        """
        return render_reasons(self._rows.relation)

    def group_by(self, *keys: str) -> GroupedTable:
        """The same rows, to be asked about for each value of the keys.

        >>> session.table("people").group_by("sex").agg(n="count", pay=("mean", "salary"), epsilon=1).columns
        ['sex', 'n', 'pay']
        """
        return GroupedTable(self, keys)

    def _ask(self, wanted: Mapping[str, Wanted], by: str | Iterable[str], options: SqlOptions) -> Answer:
        return self._session.sql(self._writing.question(write_outputs(wanted), list_keys(by)), **options)

    def _call(self, method: Method, arguments: dict[str, Any], options: SqlOptions) -> Answer:
        return self._session.sql(write_call(self._writing.text, method, arguments), **options)

    def _with(self, writing: SelectBuilder) -> PrivateTable:
        return PrivateTable(self._session, writing, self._known)

    @property
    def _catalog(self) -> Catalog:
        return self._session.catalog() if self._known is None else self._known

    @property
    def _rows(self) -> Derived:
        return rows_of(self._writing.text, self._catalog)

    @property
    def _page(self) -> TablePage:
        return TablePage(self._writing, self._catalog)

    def __getitem__(self, place: object) -> NoReturn:
        raise self._refuse_item(place)

    def _refuse_item(self, place: object) -> Refusal:
        return refuse_item(place, self._page.name, self._page.examples)

    def _refuse(self, name: str) -> AttributeError:
        return refuse_of_rows(name, self._page.name, dir(type(self)), self._page.examples)

    def __repr__(self) -> str:
        return str(self._page)

    def _repr_html_(self) -> str:
        return self._page.html()


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

    def _refuse(self, name: str) -> AttributeError:
        return self._table._refuse(name)

    def __getitem__(self, place: object) -> NoReturn:
        raise self._table._refuse_item(place)

    def __repr__(self) -> str:
        return f"By {', '.join(self._keys)}:\n{self._table}"

    def _repr_html_(self) -> str:
        return html_lines([f"By {', '.join(self._keys)}:"]) + self._table._repr_html_()


def open_table(session: Queries, name: str) -> PrivateTable:
    """A table or view of the catalog."""
    catalog = session.catalog()
    names = [table.name for table in catalog.tables] + [view.name for view in catalog.views]
    known = {each.lower(): each for each in names}
    if name.lower() not in known:
        fix = f"name one of them: {', '.join(known.values())}"
        raise Refusal(f"Table {name}", "is not in the catalog", fix, code="unknown_table")
    return PrivateTable(session, SelectBuilder(known[name.lower()], known[name.lower()]), catalog)
