"""Ways out of a refusal that a button can take: other fields of the form, with the change marked.

Each is tried before it is offered: its price is asked, which reads nothing and costs nothing. What would be refused for
the same reason again is not offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from adomnia.api.actions.drafts import is_quick
from adomnia.console.ask.edits import Edit, apply_edits, find_names, find_span, find_words, show_edits
from adomnia.console.ask.expectations import list_errors
from adomnia.console.ask.form import POLICY, AskForm
from adomnia.errors import Refusal
from adomnia.messages.fixes import ADD_DELTA, ASK_FIRST, PAY, RENAME
from adomnia.privacy.amounts import show_down
from adomnia.privacy.kinds import Quantity, Text

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.catalog.model import Catalog
    from adomnia.console.ask.edits import Diff
    from adomnia.pricing.bills import Quote
    from adomnia.privacy.expressions import Column
    from adomnia.session.contract import Session

_MOST = 4  # fixes of one refusal
_USUAL_PRICE = "0.25"
_USUAL_GROUP = "1000"
_USUAL_DELTA = "1e-9"
_FUNCTIONS = (
    *("COUNT", "SUM", "AVG", "MEDIAN", "QUANTILE", "MIN", "MAX", "STDDEV", "VARIANCE", "CORR", "COVAR_SAMP"),
    *("ROUND", "FLOOR", "CEIL", "ABS", "LENGTH", "LOWER", "UPPER", "YEAR", "MONTH", "DATE_TRUNC", "CLAMP", "COALESCE"),
)
_GROUP = re.compile(r"\bGROUP\s+BY\s+", re.IGNORECASE)
_WHERE = re.compile(r"\bWHERE\b", re.IGNORECASE)
_END = re.compile(r"\s*(?:\bHAVING\b|\bORDER\s+BY\b|\bLIMIT\b|;|\Z)", re.IGNORECASE)
_AGGREGATE = re.compile(r"\b(?:COUNT|SUM|AVG|MEDIAN|QUANTILE|MIN|MAX|STDDEV\w*|VAR\w*)\s*\(", re.IGNORECASE)


@dataclass(frozen=True)
class Situation:
    """What a fix may depend on: the form, who asks, what the catalog declares, and what is left to pay with."""

    form: AskForm
    session: Session
    catalog: Catalog
    most: Fraction
    has_delta: bool


@dataclass(frozen=True)
class SuggestedFix:
    """A way out: the fields that it changes, the change itself, and what it would buy; `off` if it needs the owner."""

    label: str
    change: str
    diff: tuple[Diff, ...] = ()
    note: str = ""
    off: bool = False


@dataclass(frozen=True)
class _Candidate:
    label: str
    changes: dict[str, str]
    edits: tuple[Edit, ...] = ()
    note: str = ""
    off: bool = False


_Maker = Callable[[Refusal, Situation], Iterator[_Candidate]]


def change_fields(**changes: str) -> str:
    """What a button sends that changes fields."""
    return urlencode(changes)


def list_fixes(refusal: Refusal, situation: Situation) -> tuple[SuggestedFix, ...]:
    """The ways out of a refusal that lead on; of a question that takes long to price, those that need not be tried."""
    candidates = (each for maker in (_rename, *_MAKERS.get(refusal.code, ())) for each in maker(refusal, situation))
    fixes = (_build_fix(each, refusal, situation) for each in candidates if each.off or is_quick())
    return tuple(islice((fix for fix in fixes if fix is not None), _MOST))


def _build_fix(candidate: _Candidate, refusal: Refusal, situation: Situation) -> SuggestedFix | None:
    """What a button offers, once it was tried; None where it leads nowhere."""
    sql, changes = situation.form.sql, candidate.changes
    if candidate.edits:
        changes = changes | {"sql": apply_edits(sql, candidate.edits)}
    bought = "" if candidate.off else _try(situation, changes, refusal)
    if bought is None:
        return None
    note = " ".join(filter(None, (candidate.note, bought)))
    return SuggestedFix(
        candidate.label, change_fields(**changes), show_edits(sql, candidate.edits), note, candidate.off
    )


def _try(situation: Situation, changes: dict[str, str], refusal: Refusal) -> str | None:
    """What changed fields would buy, in words; None where they are refused for the same reason."""
    try:
        form = situation.form.changed(changes)
        quote = form.priced().put_to(situation.session)
    except Refusal as other:
        if other.code == "public_table":
            return "Public and free."
        same = (other.code, other.what) == (refusal.code, refusal.what) or other.code == "too_much_work"
        return None if same else f"Then there is more to fix: {other.what} {other.why}."
    return _say_bought(quote, form)


def _say_bought(quote: Quote, form: AskForm) -> str:
    errors = list_errors(quote.outputs)[:3]
    price = "" if form.pay in {POLICY, "error"} else f"{form.pay} {form.amount} "
    said = " and ".join(line.says for line in errors if line.error.startswith("±"))
    return f"{price}buys {said}.".strip().capitalize() if said else ""


def _rename(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """The name that was probably meant."""
    if refusal.position is None:
        return
    name = str(refusal.fix.facts["name"]) if refusal.fix.action == RENAME else ""
    if not name and refusal.code == "function_not_allowed":
        name = next(iter(get_close_matches(refusal.what.upper(), _FUNCTIONS, n=1)), "")
    if not name or name.lower() == refusal.what.lower():
        return
    wrong = re.split(r"\(", refusal.what, maxsplit=1)[0]
    text = situation.form.sql
    place = find_span(text, refusal.position, wrong)
    spans = {place, *find_names(text, text[place.start : place.end])}  # who misspells a name once does it everywhere
    yield _Candidate(f"Did you mean {name}?", {}, tuple(Edit(span.start, span.end, name) for span in sorted(spans)))


def _name_values(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """Groups of a column whose values nobody declared: by another column, by values that are named, or found."""
    sql, name = situation.form.sql, refusal.what
    column = _find_column(situation.catalog, name)
    group = _last(_GROUP, sql)
    if column is None or group is None:
        return
    for other in _list_categories(situation.catalog, name)[:2]:
        edits = tuple(Edit(span.start, span.end, other.name) for span in find_words(sql, name))
        if edits and isinstance(other.kind, Text):
            number = len(other.kind.values or ())
            yield _Candidate(f"Group by {other.name}, which is declared", {}, edits, f"{number} values.")
    if isinstance(column.kind, Text):
        word = "AND" if _WHERE.search(sql[: group.start()]) else "WHERE"
        edit = Edit(group.start(), group.start(), f"{word} {name} IN ('a', 'b')\n")
        note = "Put your own values in the place of a and b."
        yield _Candidate("Name the values that you want", {}, (edit,), note)
    if situation.has_delta:
        yield _Candidate(
            "Find the values that enough people share",
            {"delta": _USUAL_DELTA},
            (),
            f"Costs delta {_USUAL_DELTA} as well.",
        )
    else:
        yield _Candidate(
            "Find the values that enough people share",
            {},
            (),
            "It needs a delta. You were given none; the owner may give one.",
            off=True,
        )


def _name_delta(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """A method that is private but for a delta."""
    if refusal.fix.action != ADD_DELTA:
        return
    if situation.has_delta:
        yield _Candidate("Pay a delta beside it", {"delta": _USUAL_DELTA}, (), f"Costs delta {_USUAL_DELTA} as well.")
    else:
        note = "You were given none; the owner may give one."
        yield _Candidate("Pay a delta beside it", {}, (), note, off=True)


def _aggregate(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """A column that stands alone: group by it, or make one number of it."""
    sql, name = situation.form.sql, refusal.what
    if refusal.position is None:
        return
    span, column = find_span(sql, refusal.position, name), _find_column(situation.catalog, name)
    group = _last(_GROUP, sql)
    if group is not None and column is not None:
        yield _Candidate(f"Group by {name} as well", {}, (Edit(group.end(), group.end(), f"{name}, "),))
    elif _AGGREGATE.search(sql) and column is not None:
        end = _END.search(sql)
        at = len(sql) if end is None else end.start()
        yield _Candidate(f"Group by {name}", {}, (Edit(at, at, f"\nGROUP BY {name}"),))
    if column is not None and isinstance(column.kind, Quantity):
        yield _Candidate(f"Ask for the mean of {name}", {}, (Edit(span.start, span.end, f"AVG({name})"),))
    if column is not None or name == "*":
        yield _Candidate("Count rows instead", {}, (Edit(span.start, span.end, "COUNT(*)"),))


def _bound(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """A number without bounds: 0 and 100 stand for those that whoever asks knows."""
    if refusal.position is None:
        return
    span = find_span(situation.form.sql, refusal.position, refusal.what)
    edits = (Edit(span.start, span.start, "CLAMP("), Edit(span.end, span.end, ", 0, 100)"))
    note = "Put bounds that you know in the place of 0 and 100: values beyond them are read as the bound."
    yield _Candidate("Say between which bounds it lies", {}, edits, note)


def _make_whole(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """Groups of a number that is not whole: ranges of it."""
    sql, column = situation.form.sql, _find_column(situation.catalog, refusal.what)
    spans = find_words(sql, refusal.what)
    if column is None or not spans or not isinstance(column.kind, Quantity):
        return
    kind = column.kind
    if kind.lower is not None and kind.upper is not None:
        width = f"{float(f'{float(kind.upper - kind.lower) / 10:.1g}'):.12g}"
        ranged = f"FLOOR({column.name} / {width}) * {width}"
        edits = tuple(Edit(span.start, span.end, ranged) for span in spans)
        yield _Candidate(f"Group it in ranges of {width}", {}, edits)
    whole = tuple(Edit(span.start, span.end, f"FLOOR({column.name})") for span in spans)
    yield _Candidate("Round it down to whole numbers", {}, whole)


def _keep_first(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    if refusal.position is not None:
        start = find_span(situation.form.sql, refusal.position, ";").start
        yield _Candidate("Ask the first alone", {}, (Edit(start, len(situation.form.sql), ""),))


def _name_price(_refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """A price that was missing, or none at all."""
    amount = min(_USUAL_PRICE, show_down(situation.most), key=float)
    if float(amount) > 0:
        yield _Candidate(f"Pay epsilon {amount}", {"pay": "epsilon", "amount": amount})


def _pay_less(_refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    if situation.form.pay in {"epsilon", "rho"} and situation.most > 0:
        amount = show_down(situation.most)
        yield _Candidate(f"Ask it for {amount}", {"amount": amount})


def _pay_more(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """A price at which an answer would say something, or the answer all the same."""
    if refusal.fix.action == PAY:
        currency, amount = (str(refusal.fix.facts[name]) for name in ("currency", "amount"))
        if float(amount) <= situation.most:
            yield _Candidate(f"Pay {currency} {amount}", {"pay": currency, "amount": amount})
    yield _Candidate("Ask all the same", {"allow_uninformative": "1"})


def _suppose_rows(refusal: Refusal, situation: Situation) -> Iterator[_Candidate]:
    """An error that depends on the size of groups."""
    if refusal.fix.action == ASK_FIRST:
        yield _Candidate("Suppose groups of 1,000 rows", {"rows": _USUAL_GROUP})
        edit = Edit(0, len(situation.form.sql), str(refusal.fix.facts["sql"]))
        yield _Candidate("Ask how large the groups are first", {"pay": "epsilon", "amount": "0.1"}, (edit,))
    yield from _name_price(refusal, situation)


def _set(label: str, **changes: str) -> _Maker:
    def make(_refusal: Refusal, _situation: Situation) -> Iterator[_Candidate]:
        yield _Candidate(label, changes)

    return make


_MAKERS: dict[str, tuple[_Maker, ...]] = {
    "identifier_column": (_name_values,),
    "not_an_aggregate": (_aggregate,),
    "unbounded_expression": (_bound,),
    "needs_key_domain": (_make_whole,),
    "multiple_statements": (_keep_first,),
    "bad_price": (_name_delta, _name_price),
    "price": (_name_price,),
    "error_not_known": (_suppose_rows,),
    "error_too_small": (_name_price,),
    "budget": (_pay_less,),
    "ceiling": (_pay_less,),
    "vacuous": (_pay_more,),
    "bad_rows": (_set("Suppose groups of 1,000 rows", rows=_USUAL_GROUP),),
    "not_covered": (_set("Ask the data for a fresh answer, at a price", from_release=""),),
    "policy_price": (_set("Pay the price that the owner set", pay=POLICY),),
    "bad_effort": (_set("Take normal effort", effort="normal"),),
    "bad_inference": (_set("Ask about these people", inference="data"),),
    "population": (_set("Ask about these people", inference="data"),),
}
"""What leads on, by the code of the refusal; a name that was probably meant is offered for any."""


def _find_column(catalog: Catalog, name: str) -> Column | None:
    bare = name.rsplit(".", 1)[-1].lower()
    return next((each for table in catalog.tables for each in table.columns if each.name.lower() == bare), None)


def _list_categories(catalog: Catalog, name: str) -> list[Column]:
    """Declared categories of the tables that have a column of this name."""
    bare = name.rsplit(".", 1)[-1].lower()
    tables = [table for table in catalog.tables if any(each.name.lower() == bare for each in table.columns)]
    columns = (each for table in tables for each in table.columns)
    return [each for each in columns if isinstance(each.kind, Text) and each.kind.values]


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(reversed(list(pattern.finditer(text)))), None)
