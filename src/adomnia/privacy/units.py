"""Whose presence is hidden."""

from __future__ import annotations

from dataclasses import dataclass

MOST_ROWS = 2**48  # of one table, hence of one person: what the static bounds on sums are computed from
MOST_PEOPLE = 2**32


@dataclass(frozen=True)
class Unit:
    """The column whose values are the people: neighbouring databases differ by one of them, with all their rows.

    >>> str(Unit.parse("people.person_id"))
    'people.person_id'
    """

    table: str
    column: str

    def __post_init__(self) -> None:
        if not isinstance(self.table, str) or "." in self.table or self.table != self.table.strip():
            raise ValueError(f"Unit table must be a name without dots or outer spaces, got {self.table!r}.")
        if not isinstance(self.column, str) or self.column != self.column.strip():
            raise ValueError(f"Unit column must be a name without outer spaces, got {self.column!r}.")
        if bool(self.table) != bool(self.column):
            raise ValueError(f"Unit table and column must both be named, got {self.table!r} and {self.column!r}.")

    @classmethod
    def parse(cls, text: str) -> Unit:
        """The unit as a catalog writes it: `table.column`, or `row` where every row is hidden by itself."""
        if text == "row":
            return ROW
        table, _, column = text.partition(".") if isinstance(text, str) else ("", "", "")
        if not table or not column:
            raise ValueError(f"Unit must be written table.column or row, got {text!r}.")
        return cls(table, column)

    def __str__(self) -> str:
        return f"{self.table}.{self.column}" if self.table else "row"

    @property
    def noun(self) -> str:
        """What is hidden, in a word: a person, or a row."""
        return "person" if self.table else "row"

    def promise(self, rows: str = "one row") -> str:
        """What is hidden, in a sentence for owners and analysts; `rows` says of which tables a row may be."""
        hidden = f"one person (one value of {self}) with all their rows" if self.table else f"{rows}, not of one person"
        them = "them" if self.table else "it"
        return (
            f"Hidden is the presence of {hidden}: adding or removing {them} keeps the probability of every answer "
            f"within the stated (epsilon, delta). Replacing {them} by another costs at most "
            "(2 epsilon, (1 + e^epsilon) delta)."
        )


ROW = Unit("", "")  # every row is hidden by itself
