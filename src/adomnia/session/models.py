"""Answers of models: their coefficients under the names that statsmodels gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.plans.columns import Cell, KeyColumn, ValueColumn
from adomnia.session import display
from adomnia.session.answer import Answer
from adomnia.tables import html_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Term: TypeAlias = "Cell | tuple[Cell | None, ...] | None"  # of a model for each group, its keys and then the term

_TERM, _ESTIMATE = "term", "estimate"


@dataclass(frozen=True, repr=False)
class ModelAnswer(Answer):
    """The answer of a model: coefficients by their terms, with intervals that know the noise.

    Of a model for each group, a term is a tuple of the keys and the term.
    """

    @property
    def params(self) -> dict[Term, Cell | None]:
        """The coefficients by their terms.

        >>> sorted(session.table("people").lm("salary ~ age", epsilon=1).params)
        ['(Intercept)', 'age']
        """
        return self._by_term(_ESTIMATE)

    @property
    def bse(self) -> dict[Term, Cell | None]:
        """The standard errors of the coefficients, which include the noise.

        >>> session.table("people").lm("salary ~ age", epsilon=1).bse["age"] > 0
        True
        """
        return self._by_term("standard_error")

    @property
    def pvalues(self) -> dict[Term, Cell | None]:
        """The p-values of tests that a coefficient is 0. One may be an upper bound, and the table says then which.

        >>> 0 <= session.table("people").lm("salary ~ age", epsilon=1).pvalues["age"] <= 1
        True
        """
        return self._by_term("p_value")

    def conf_int(self, *, confidence: float | None = None) -> dict[Term, tuple[Any, Any]]:
        """The intervals of the coefficients, at the confidence level of the answer or another; free.

        >>> low, high = session.table("people").lm("salary ~ age", epsilon=1).conf_int(confidence=0.99)["age"]
        >>> low < high
        True
        """
        return dict(zip(self._terms(_ESTIMATE), self.interval(_ESTIMATE, confidence), strict=True))

    def summary(self) -> ModelSummary:
        """The model as a page: its formula, its coefficients, and what else is known of it.

        >>> print(session.table("people").lm("salary ~ age", epsilon=1).summary())  # doctest: +ELLIPSIS
        lm: salary ~ age
        <BLANKLINE>
        term ...
        """
        said = [f"{self.model['kind']}: {self.model['formula']}"] if "formula" in self.model else []
        return ModelSummary(self, tuple(said))

    def _by_term(self, column: str) -> dict[Term, Cell | None]:
        return dict(zip(self._terms(column), self[column], strict=True))

    def _terms(self, wanted: str) -> list[Term]:
        """The terms in the order of the rows; without a column that is wanted, the attribute is not there."""
        if not {_TERM, wanted} <= set(self.columns):
            raise AttributeError(wanted)
        keys = [each.name for each in self.typed_columns if isinstance(each, KeyColumn) and not each.fact]
        if keys == [_TERM]:
            return list(self[_TERM])
        groups = [name for name in keys if name != _TERM]
        return list(zip(*(self[name] for name in (*groups, _TERM)), strict=True))


@dataclass(frozen=True, repr=False)
class ModelSummary:
    """A model as a page: it prints, and shows as a table in notebooks."""

    answer: Answer
    heading: tuple[str, ...]

    def __str__(self) -> str:
        return "\n\n".join([*self.heading, display.format_text(self.answer)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_lines(self.heading) + display.format_html(self.answer)


def choose_class(columns: Iterable[KeyColumn | ValueColumn], model: Mapping[str, Any]) -> type[Answer]:
    """The class of an answer: that of models where a table has terms with their estimates."""
    found = {each.name: isinstance(each, ValueColumn) for each in columns}
    is_model = bool(model) or (found.get(_TERM) is False and found.get(_ESTIMATE) is True)
    return ModelAnswer if is_model else Answer
