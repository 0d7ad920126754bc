"""Names that people know from pandas, polars and statsmodels, and what to write for them here.

What is not there is refused with that, as an AttributeError: `hasattr` and completion take it for what it is.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.session.examples import ExampleNames


class UnknownAttribute(Refusal, AttributeError):
    """A name after a dot that nothing has, and what to write for it."""


# Of an answer: what a table of pandas has, and an answer leaves to it.
_FRAME = (
    "agg aggregate apply assign astype corr count cumsum describe drop dropna eval fillna filter groupby hist iloc "
    "info iterrows itertuples join loc max mean median melt merge min nlargest nsmallest pct_change pipe pivot "
    "pivot_table query rank reindex rename reset_index round sample set_index sort_index sort_values std sum tail "
    "to_csv to_excel to_json to_parquet transpose value_counts values var"
)
FRAME_WORDS = frozenset(_FRAME.split())
# Of a model: what other programs call its parts.
MODEL_WORDS = {
    "coef_": "params",
    "coefficients": "params",
    "tvalues": 'answer["statistic"]',
    "rsquared": 'answer.model["r_squared"]',
    "rsquared_adj": 'answer.model["adjusted_r_squared"]',
    "nobs": "answer.notes, which say about how many rows there were",
    "cov_params": 'answer.model["covariance"]',
}
_MODEL_PARTS = {
    "params": "estimate",
    "bse": "standard_error",
    "pvalues": "p_value",
    "conf_int": "estimate",
    "summary": "estimate",
}
_UNREADABLE = "would show private rows, and those nobody can read"
_READERS = (
    "head tail sample take limit show collect display to_pandas to_polars to_arrow to_dict to_csv to_list values items "
    "iterrows itertuples records fetchall fetchdf df iloc get"
)
READER_WORDS = frozenset(_READERS.split())
_SEVERAL = {
    "filter query loc mask": 'where("{condition}")',
    "groupby": 'group_by("{key}").count(epsilon=0.1)',
    "value_counts unique": 'count(by="{key}", epsilon=0.1)',
    "describe info": 'summary(columns="{number}", epsilon=0.1)',
    "average avg": 'mean("{number}", epsilon=0.1)',
    "stddev": 'std("{number}", epsilon=0.1)',
    "variance": 'var("{number}", epsilon=0.1)',
    "shape size height empty": "count(epsilon=0.1)",
    "nunique n_unique": 'count_distinct("{person}", epsilon=0.1)',
    "hist plot": 'histogram("{number}", epsilon=0.1)',
    "assign with_columns rename drop apply map": 'select("{key}", doubled="2 * {number}")',
    "dropna": 'where("{number} IS NOT NULL")',
    "fillna": 'select(filled="COALESCE({number}, 0)")',
    "merge": 'join(session.table("OTHER"), on="COLUMN")',
    "concat append": 'union(session.table("OTHER"))',
    "dtypes schema": "columns, or print the table",
}
# Of private rows: each word, and the call that it is here; braces stand for columns that the rows have.
TABLE_WORDS = {word: call for words, call in _SEVERAL.items() for word in words.split()}


def refuse_of_answer(name: str, columns: Iterable[str], known: Iterable[str]) -> AttributeError:
    """What says that an answer has no such attribute."""
    what, names = f"Attribute {name}", list(columns)
    if name.startswith("_"):
        return AttributeError(name)
    if name in names:
        return _refuse(what, "is a column", f'write answer["{name}"]')
    if name in MODEL_WORDS:
        return _refuse(what, "has another name", f"write {MODEL_WORDS[name]}")
    if name in _MODEL_PARTS:
        fix = f"ask for a model such as lm, and leave its columns term and {_MODEL_PARTS[name]} in"
        return _refuse(what, "belongs to the answer of a model", fix)
    if name in FRAME_WORDS:
        fix = f"write answer.to_pandas().{name}, where the ends of intervals are columns"
        return _refuse(what, "is one of pandas", fix)
    close = get_close_matches(name, [*known, *(f'["{each}"]' for each in names)], n=1)
    fix = f"write {close[0]}" if close else 'write answer["COLUMN"], answer[0], or answer.to_pandas()'
    return _refuse(what, "is nothing that an answer has", fix)


def refuse_of_rows(name: str, rows: str, known: Iterable[str], examples: ExampleNames) -> AttributeError:
    """What says that private rows have no such attribute; `rows` is how they are called."""
    what = f"Attribute {name}"
    if name.startswith("_"):
        return AttributeError(name)
    if name in READER_WORDS:
        return _refuse(what, _UNREADABLE, f'write session.preview("{examples.table}") for synthetic ones')
    if name in TABLE_WORDS:
        return _refuse(what, "has another name here", f"write {rows}.{examples.fill(TABLE_WORDS[name])}")
    if name.startswith(("sort", "order")):
        return _refuse(what, "has no meaning, because rows have no order", "sort groups, with ORDER BY in session.sql")
    if name in examples.columns:
        return _refuse(what, "is a column", f"write {rows}.{examples.ask(name)}")
    close = get_close_matches(name, list(known), n=1)
    fix = f"write {rows}.{close[0]}" if close else f"write {rows}.where, {rows}.count or session.methods()"
    return _refuse(what, "is nothing that private rows have", fix)


def refuse_item(name: object, rows: str, examples: ExampleNames) -> Refusal:
    """What says that private rows cannot be indexed."""
    if isinstance(name, str) and name in examples.columns:
        return Refusal(f'["{name}"]', _UNREADABLE, f"write {rows}.{examples.ask(name)}", code="unknown_attribute")
    fix = f"write {rows}.where(...) to choose rows, {rows}.select(...) to choose columns"
    return Refusal("[...]", _UNREADABLE, fix, code="unknown_attribute")


def _refuse(what: str, why: str, fix: str) -> UnknownAttribute:
    return UnknownAttribute(what, why, fix, code="unknown_attribute")
