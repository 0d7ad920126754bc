"""What every question must hold to: the engine's exact aggregates, proved twice, moved by one person so far at most."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from adomnia.asking.known_rows import EarlierAnswers, EarlierCounts
from adomnia.engines.check import check_statement
from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.privacy.losses import loss
from adomnia.sql.lower import lower
from kit.altering import alter
from kit.reference import exact
from kit.tables import Database, rows

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.engines.contract import Statement
    from adomnia.privacy.queries import Query
    from adomnia.privacy.sensitivity import Sensitivity
    from adomnia.session.curator import Curator

    Proved = tuple[Statement, tuple[Query, ...]]


def meaning(query: Query, database: Database) -> Any:
    """What the query must give on a database, from the rows alone."""
    return exact(query, rows(query.read, database))


def proved(curator: Curator, queries: tuple[Query, ...]) -> list[Proved]:
    """Statements for the queries, as few as hold them, each proved by the second derivation."""
    groups: defaultdict[Any, list[Query]] = defaultdict(list)
    for query in queries:
        groups[query.scan].append(query)
    found = []
    for simultaneous in map(tuple, groups.values()):
        statement = curator.engine.render(simultaneous)
        columns = tuple(query.columns for query in simultaneous)
        derived = check_statement(statement, curator.catalog, curator.engine.dialect, simultaneous[0].cells, columns)
        assert [_norms(each) for each in derived] == [_norms(query.sensitivity()) for query in simultaneous]
        found.append((statement, simultaneous))
    return found


def aggregated(curator: Curator, statements: list[Proved]) -> dict[Query, Any]:
    """The engine's own exact aggregates."""
    found: dict[Query, Any] = {}
    for statement, simultaneous in statements:
        for query, values in zip(simultaneous, curator.engine.inner.run(statement, simultaneous), strict=True):
            assert values.shape == query.result_shape
            found[query] = values.tolist()
    return found


def _norms(sensitivity: Sensitivity) -> tuple[Fraction, ...]:
    return sensitivity.l1, sensitivity.l2_squared, sensitivity.linf


def moved_within(query: Query, one: Any, other: Any) -> None:
    """Whether two results are as near to each other as the declared sensitivity says, in every norm."""
    distances = [abs(a - b) for a, b in zip(_flat(one), _flat(other), strict=True)]
    sensitivity = query.sensitivity()
    assert sum(distances) <= sensitivity.l1
    assert sum(distance**2 for distance in distances) <= sensitivity.l2_squared
    assert max(distances) <= sensitivity.linf
    if sensitivity.monotone:
        signs = {a < b for a, b in zip(_flat(one), _flat(other), strict=True) if a != b}
        assert len(signs) < 2


class _Forgotten(EarlierCounts):
    """No earlier answers: what they told is noise, and differs where people do."""

    def read(self, *_: Any) -> EarlierAnswers:
        return EarlierAnswers((10**15,))  # newer than any


def public_side(curator: Curator, text: str, price: dict[str, Any]) -> dict[str, Any]:
    """All that an onlooker could see or time of one question, noise aside."""
    curator.engine.ran.clear()
    curator.dataset.kernel.bits.requests.clear()
    alter(curator, counts=_Forgotten())
    session = curator.session("bob")
    quote = session.price(text, **price)
    answer = session.sql(text, **price, replay=False)
    return {
        "quote": repr(quote),
        "plan": lower(text, curator.catalog).identity(quote.price, 1),
        "statements": list(curator.engine.ran),
        "words": list(curator.dataset.kernel.bits.requests),
        "cost": loss(answer.cost),
        "left": answer.left,
        "columns": answer.columns,
        "keys": [sorted(map(str, column.values)) for column in answer.typed_columns if hasattr(column, "values")],
        "rows": len(answer),
        "methods": [column.estimate.method for column in answer.typed_columns if hasattr(column, "estimate")],
        "bytes": [find_types(column) for column in answer.typed_columns],
    }


def find_types(column: KeyColumn | ValueColumn) -> Any:
    """Of which types its values are; of measured ones as they were released, shown or not."""
    if isinstance(column, KeyColumn):
        return [type(value) for value in column.values]
    return column.estimate.values.dtype, column.estimate.values.shape


def _flat(values: Any) -> list[int]:
    return [each for part in values for each in _flat(part)] if isinstance(values, list) else [values]
