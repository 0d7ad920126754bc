"""A release: what was published under a name, and all that its readers are told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adomnia.tables import TextTable, html_lines

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adomnia.messages.texts import Note
    from adomnia.noise import Integers
    from adomnia.releases.facts import ReleaseFacts
    from adomnia.releases.quality_report import Quality
    from adomnia.statistics.products import Attribute, Product

_SHOWN_LEVELS = 6  # of a column


@dataclass(frozen=True, eq=False)
class Release:
    """A published product. `table` is what its question was answered with: estimates with intervals, or rows of nobody.

    `facts` say how it was made, and `about` the same in plain data. `measurements` are the released integers that all
    follows from.
    """

    name: str
    product: Product
    question: str
    facts: ReleaseFacts
    notes: tuple[Note, ...]
    table: pa.Table
    measurements: tuple[Integers, ...] = field(default=())

    @property
    def about(self) -> dict[str, Any]:
        """How it was made, in plain data: mechanism, price, guarantee, version of the data, and more.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> made.about["mechanism"]
        'marginals'
        """
        return self.facts.to_record()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the people it stands for, in their order.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> made.columns
        ('sex', 'city')
        """
        return tuple(each.name for each in self.product.attributes)

    def to_arrow(self) -> pa.Table:
        """The published table.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> made.to_arrow().column_names[:2]
        ['sex', 'city']
        """
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The published table as one of pandas.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> list(made.to_pandas().columns)[:2]
        ['sex', 'city']
        """
        return self.table.to_pandas()

    def quality(self) -> Quality:
        """How good it is: how far off in every column and pair of columns, and what it is not good for; free.

        >>> made = session.release("towns", "SELECT * FROM marginals((SELECT sex, city FROM people))", epsilon=1)
        >>> made.quality().release
        'towns'
        """
        from adomnia.releases.quality import assess_product

        return assess_product(self.name, self.product)

    def __repr__(self) -> str:
        return "\n".join([self._heading(), str(self._list_columns()), "", *self._remarks()])

    def _repr_html_(self) -> str:
        return html_lines([self._heading()]) + self._list_columns().html() + html_lines(self._remarks())

    def _heading(self) -> str:
        return f"Release {self.name}: {self.table.num_rows:,} rows, made by {self.facts.mechanism or 'unknown'}"

    def _list_columns(self) -> TextTable:
        rows = [(each.name, each.sort, f"{len(each):,}", describe_levels(each)) for each in self.product.attributes]
        return TextTable(("column", "type", "values", "which"), tuple(rows), frozenset({2}))

    def _remarks(self) -> list[str]:
        return [*([self.facts.guarantee] if self.facts.guarantee else []), *self.notes]


def describe_levels(attribute: Attribute) -> str:
    """The values of a column in words: the first of them, and the last."""
    shown = ["missing" if level is None else str(level) for level in attribute.levels]
    if len(shown) <= _SHOWN_LEVELS:
        return ", ".join(shown)
    return ", ".join([*shown[: _SHOWN_LEVELS - 1], "...", shown[-1]])
