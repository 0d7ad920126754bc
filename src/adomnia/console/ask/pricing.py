"""What stands in the price panel: the price, how wrong the answer may be, what is left afterwards; or why not.

Nothing is read and nothing is spent: all of it follows from the text, the catalog and the analyst's own budget.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.api.actions.drafts import find_paid, is_about_nobody, is_quick, makes_release, may_price_again, plan_draft
from adomnia.api.actions.releases import check_named
from adomnia.api.running.request_facts import choose_id
from adomnia.console.ask.affording import add_affordance, describe_situation, find_most
from adomnia.console.ask.expectations import (
    find_roughest,
    list_errors,
    show_digits,
    show_error,
    tabulate_sizes,
)
from adomnia.console.ask.fixes import change_fields
from adomnia.console.ask.form import POLICY
from adomnia.console.ask.funnel import Caption, PriceScale, draw_funnel
from adomnia.console.ask.price_view import Coming, PriceView, build_bar, find_free_release, without_free_release
from adomnia.console.ask.refusals import view_refusal
from adomnia.console.prices import SIGNS
from adomnia.errors import Refusal
from adomnia.explaining.balances import WOULD_BE_REFUSED
from adomnia.explaining.plan_sentences import Piece
from adomnia.messages.fixes import ASK_RELEASE
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_all
from adomnia.pricing.bills import HIGH_EFFORT
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, exact, show_up
from adomnia.session.digits import show_sure
from adomnia.wire.amounts import amount_of, count_cost, name_price
from adomnia.wire.releases import AskRelease
from adomnia.work import limit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adomnia.api.actions.drafts import PricedDraft
    from adomnia.api.requests import Visit
    from adomnia.console.ask.form import AskForm
    from adomnia.console.ask.funnel import Funnel
    from adomnia.console.ask.refusals import RefusalView
    from adomnia.pricing.bills import Expected, Quote
    from adomnia.session.accounts import Budgets
    from adomnia.wire.asking import Ask

__all__ = ["PriceView", "build_price", "check_seen", "defer_price", "refuse_creation", "view_problem"]

_POINTS = 5  # prices at which the funnel is known
_SIZES = (100, 250, 1000, 3000)  # of groups


def build_price(visit: Visit, form: AskForm) -> PriceView:
    """The panel of a form as it stands."""
    budgets = visit.session.budget()
    empty = _begin(form, budgets)
    settled = empty.form
    if settled.is_empty:
        return _add_slider(empty, budgets)
    if is_about_nobody(settled.sql):
        return replace(empty, state="free", reads=(Piece("What is public, as text: free."),))
    try:
        refuse_creation(settled.sql)
        if settled.is_from_release:
            return _read_release(visit, empty)
        return _price(visit, budgets, empty)
    except Refusal as refusal:
        told = view_refusal(refusal, describe_situation(visit, budgets, settled))
        return replace(_add_slider(empty, budgets), state="refused", refusal=told)


def defer_price(visit: Visit, form: AskForm) -> PriceView:
    """The panel of a form whose price is asked for once the page is open: nothing is planned or proved for it."""
    budgets = visit.session.budget()
    return replace(_add_slider(_begin(form, budgets), budgets), state="pending")


def view_problem(visit: Visit, form: AskForm, refusal: Refusal) -> RefusalView:
    """A refusal that came when a form was asked, with the ways out of it."""
    return view_refusal(refusal, describe_situation(visit, visit.session.budget(), form))


def _begin(form: AskForm, budgets: Budgets) -> PriceView:
    """The panel before anything is known of the question."""
    settled = _settle(form, budgets)
    word = "rho" if settled.pay == "rho" else "epsilon"
    return PriceView(
        "empty",
        settled,
        build_bar(budgets.personal),
        settled.request_id or choose_id(None),
        SIGNS[word],
        word,
        policy=budgets.terms.says if settled.pay == POLICY else "",
        is_spent=find_most(budgets, word) < EPSILON_UNIT,
    )


def _settle(form: AskForm, budgets: Budgets) -> AskForm:
    """The form with the price left to the policy, where one sets it; and the other way round."""
    terms = budgets.terms
    sets = terms.price is not None or terms.questions is not None
    if sets != (form.pay == POLICY):
        return replace(form, pay=POLICY if sets else "epsilon")
    return form


def _read_release(visit: Visit, empty: PriceView) -> PriceView:
    """The panel of a question that a release is to answer: it is free to ask which, and whether one does."""
    answer = visit.session.sql(empty.form.sql, from_release=True)
    told = Coming(f"{len(answer):,} {'row' if len(answer) == 1 else 'rows'}, from what was published", grouped=False)
    return replace(empty, state="free", reads=(Piece(answer.notes[0] if answer.notes else "Free."),), coming=told)


def _price(visit: Visit, budgets: Budgets, empty: PriceView) -> PriceView:
    asked = empty.form.priced()
    try:
        quote = asked.put_to(visit.session)
    except Refusal as refusal:
        if refusal.code != "public_table":
            raise
        if refusal.fix.action == ASK_RELEASE:
            check_named(visit.session, empty.form.sql)
            told, read = "What a release says, free: it was paid for before.", "A release, and no data."
        else:
            told = "Rows of public tables, exact and free: they are about nobody."
            read = "Rows of public tables, as they are."
        return replace(empty, state="free", reads=(Piece(read),), coming=Coming(told, grouped=False))
    priced = replace(_name_price(_add_words(empty, quote), quote), state="priced")
    quick, known = is_quick(), may_price_again()
    draft = plan_draft(visit, asked.question(), asked.confidence) if known else None
    paid = None if draft is None or empty.form.is_fresh else find_paid(visit, draft)
    priced = replace(
        priced,
        bar=build_bar(budgets.personal, None if paid else quote.event),
        paid_as="" if paid is None else paid.request_id,
        sure=show_sure(asked.confidence),
    )
    return add_affordance(_add_errors(priced, draft if quick else None, quote, budgets), visit, budgets, quote)


def _name_price(view: PriceView, quote: Quote) -> PriceView:
    """The panel with the price in its currency, and the delta that is paid beside it."""
    assert quote.price is not None  # noqa: S101 - of one question
    (word, amount), beside = name_price(quote.price), count_cost(quote.event).delta_units
    delta = show_up(beside * DELTA_UNIT) if beside else ""
    return replace(view, sign=SIGNS[word], word=word, price=show_up(amount), delta=delta)


def _add_words(view: PriceView, quote: Quote) -> PriceView:
    """The panel with what else there is to know, in the words of the page."""
    caps, findings = (tuple(f"{each}." for each in some) for some in (quote.caps, quote.findings))
    effort = (HIGH_EFFORT,) if quote.effort == "high" else ()
    warnings = tuple(
        line for line in quote.warnings if line.code != WOULD_BE_REFUSED.code
    )  # which the panel says better
    return replace(
        view,
        vacuous=show_all(quote.vacuous, Surface.PAGE),
        warnings=show_all(warnings, Surface.PAGE),
        notes=show_all((*caps, *without_free_release(quote.notes), *findings, *effort), Surface.PAGE),
        release=find_free_release(quote.notes),
    )


def _add_errors(priced: PriceView, draft: PricedDraft | None, quote: Quote, budgets: Budgets) -> PriceView:
    """The panel with errors by column, by size of group, and by price; and how the question reads."""
    rough, names_error = find_roughest(quote.outputs), priced.form.pay == "error"
    by_size: dict[int, Sequence[Expected]] = {quote.rows: quote.outputs}
    if draft is not None and not names_error and any(line.rows is not None for line in quote.outputs):
        of = None if rough is None else rough.of
        for size in _SIZES:  # of a small group all errors are told, of the others that of the roughest column
            if size != quote.rows:
                by_size[size] = draft.expect_in(size, quote.price, None if size == _SIZES[0] else of)
    small = by_size.get(_SIZES[0], ()) if quote.rows > _SIZES[0] else ()
    instead = "" if rough is None else _name_error(rough)
    return replace(
        priced,
        errors=list_errors(quote.outputs, small if len(small) == len(quote.outputs) else ()),
        rough="" if rough is None else f"{rough.name} {show_error(rough)}",
        funnel=_draw(priced, draft, quote, budgets),
        reads=() if draft is None else draft.read(),
        coming=None if draft is None else _describe_coming(draft, quote, by_size, rough),
        instead=change_fields(pay="epsilon", amount=f"{float(priced.price):.2g}") if names_error else instead,
    )


def _name_error(rough: Expected) -> str:
    return change_fields(pay="error", amount=show_digits(rough.error or 1.0, 2), rows=str(rough.rows or ""))


def _draw(priced: PriceView, draft: PricedDraft | None, quote: Quote, budgets: Budgets) -> Funnel | None:
    """The slider at the price, with the error of the roughest column at a few others."""
    most = find_most(budgets, priced.word)
    if priced.policy or quote.price is None or most < EPSILON_UNIT:
        return None
    scale, here, rough = PriceScale.up_to(most, priced.word), name_price(quote.price)[1], find_roughest(quote.outputs)
    if rough is None or draft is None:
        return draw_funnel(scale, here, Caption(f"Price {priced.price}"))
    known = [(here, rough.error or 0.0)] if scale.least <= here <= scale.most else []
    for point in scale.list_points(_POINTS):
        lines = draft.expect_at(priced.word, point, quote.rows, rough.of)
        known += [(point, line.error) for line in lines if line.error is not None]
    where = "in any group" if rough.rows is None else f"in a group of {rough.rows:,}"
    says = f"Price {priced.price}: {rough.name} within {show_digits(rough.error or 0.0)} {where}"
    return draw_funnel(scale, here, Caption(says, rough.name, where), known)


def _describe_coming(
    draft: PricedDraft, quote: Quote, by_size: Mapping[int, Sequence[Expected]], rough: Expected | None
) -> Coming:
    counted = next((line.name for line in quote.outputs if line.what == "COUNT(*)"), "")
    sizes = None
    if rough is not None and rough.rows is not None:
        lines = [(size, line) for size in sorted(by_size) for line in by_size[size] if line.name == rough.name]
        sizes = tabulate_sizes(rough.name, lines)
    finds = bool(quote.findings)
    return Coming(draft.count_rows(finds_values=finds), draft.grouped and not finds, sizes, counted)


def _add_slider(view: PriceView, budgets: Budgets) -> PriceView:
    """The panel with the slider, where nothing is known of errors yet."""
    most, here = find_most(budgets, view.word), _read_amount(view.form)
    if view.policy or here is None or most < EPSILON_UNIT:
        return view
    funnel = draw_funnel(PriceScale.up_to(most, view.word), here, Caption(f"Price {view.form.amount}"))
    return replace(view, price=view.form.amount, funnel=funnel)


def _read_amount(form: AskForm) -> Fraction | None:
    """The price that a form names; None where it names none that could be drawn."""
    try:
        amount = amount_of(form.amount) if form.pay in SIGNS else Fraction(0)
    except ValueError:
        return None
    return amount if EPSILON_UNIT <= amount <= 1 / EPSILON_UNIT else None


def refuse_creation(sql: str) -> None:
    """Refuse to make a release of a text: its method has a form, which shows the price."""
    if makes_release(sql):
        why, fix = "is not asked on this page", "fill in the form of its method, at /methods, and publish there"
        raise Refusal("CREATE TABLE", why, fix, (1, 1), code="statement_not_allowed")


def check_seen(visit: Visit, asked: Ask | AskRelease, seen: str) -> None:
    """Refuse a question that costs more than the page said; one that was paid for before costs nothing."""
    if not seen or asked.payment().get("from_release") or is_about_nobody(asked.sql):
        return
    word, _, said = seen.partition(" ")
    try:
        currency, price = _find_price(visit, asked)
        if (currency == word and price <= amount_of(said)) or _was_paid(visit, asked):
            return
    except (Refusal, ValueError):  # it is not paid at all, and asking says why
        return
    why = f"is {currency} {show_up(price)}, and the page said {seen}"
    raise Refusal("The price", why, "look at it, and ask again", code="price_changed")


def _find_price(visit: Visit, asked: Ask | AskRelease) -> tuple[str, Fraction]:
    for currency in ("epsilon", "rho"):
        named = getattr(asked, currency)
        if named is not None:
            return currency, exact(named, "Question", currency)
    quote = visit.session.price(asked.sql, confidence=asked.confidence, **asked.payment())
    assert quote.price is not None  # noqa: S101 - of one question
    return name_price(quote.price)


def _was_paid(visit: Visit, asked: Ask | AskRelease) -> bool:
    """Whether whoever asks has paid for it: not for new noise; and what is published the dataset pays for anyway."""
    if not (asked.private if isinstance(asked, AskRelease) else asked.replay):
        return False
    with limit():
        return find_paid(visit, plan_draft(visit, asked.question(), asked.confidence)) is not None
