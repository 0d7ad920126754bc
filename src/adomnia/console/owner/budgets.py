"""The page of budgets: what everybody has and has left, what questions cost, and adding to a budget for good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.actions.accounts import (
    DATASET,
    WrittenTopUp,
    account_name,
    find_restored,
    foresee_top_up,
    identify_budget,
    read_dataset_account,
    top_up,
)
from adomnia.api.authorization import LOGIN_FAILED
from adomnia.api.problems import status_of
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.owner.accounts import list_rows, name_account, say_budget
from adomnia.console.owner.meaning import ChanceMeaning, explain_amounts
from adomnia.console.rendering import Page
from adomnia.errors import Refusal
from adomnia.explaining.balances import say_left
from adomnia.pricing.policies import terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Analyst
    from adomnia.privacy.filters import Filter


_DONE = {"raised": "The budget is raised, in every worker at once. The ledger has an entry for it, with your reason."}
_WRONG_PASSWORD = Refusal(
    "The password", "is not right", "type the one that you sign in with; nothing was changed", code=LOGIN_FAILED
)


async def budgets(request: Request) -> Response:
    """All budgets; for owners, a form to add to one."""
    done = _DONE.get(request.query_params.get("done", ""), "")
    form = TopUpForm(request.query_params.get("account", ""))
    return await show(request, lambda visit: _read(visit, form, done=done))


async def raise_budget(request: Request) -> Response:
    """Show what a top-up would change; with the password, do it."""
    fields = await read_form(request)
    form = TopUpForm.from_fields(fields)
    if "password" not in fields:
        return await show(request, lambda visit: _preview(visit, form))
    try:
        await top_up(request, None, form.read(), fields.get("seen", ""), fields["password"])
    except Refusal as refusal:
        problem = _WRONG_PASSWORD if refusal.code == LOGIN_FAILED else refusal
        return await show(request, lambda visit: _preview(visit, form, problem))
    return RedirectResponse("/owner/budgets?done=raised", 303)


def _preview(visit: Visit, form: TopUpForm, problem: Refusal | None = None) -> Page:
    try:
        return _read(visit, form, preview_top_up(visit, form), problem)
    except Refusal as refusal:
        return _read(visit, form, problem=problem or refusal)


def _read(
    visit: Visit, form: TopUpForm, preview: TopUpPreview | None = None, problem: Refusal | None = None, done: str = ""
) -> Page:
    filling = {
        "accounts": list_rows(visit),
        "restored": find_restored(visit),
        "form": form,
        "preview": preview,
        "problem": problem,
        "done": done,
    }
    return Page("owner_budgets.html", filling, 200 if problem is None else status_of(problem))


@dataclass(frozen=True)
class TopUpForm:
    """What was typed: whose budget, how much, and why."""

    account: str = ""
    epsilon: str = ""
    delta: str = ""
    reason: str = ""

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> TopUpForm:
        """Read the fields of a form."""
        return cls(*(fields.get(name, "").strip() for name in ("account", "epsilon", "delta", "reason")))

    def read(self) -> WrittenTopUp:
        """What is to be added to whose account: nobody has no name."""
        prefix = account_name("")
        name = self.account.removeprefix(prefix) if self.account.startswith(prefix) else ""
        return None if self.account == DATASET else name, self.epsilon or 0, self.delta or 0, self.reason


@dataclass(frozen=True)
class BudgetSide:
    """An account before or after: what may be spent in all, what is left, and what that means to a person."""

    budget: str
    left: str
    next_question: str
    meaning: ChanceMeaning


@dataclass(frozen=True)
class TopUpPreview:
    """What a top-up would change; `seen` is the budget that it was computed from."""

    name: str
    added: str
    before: BudgetSide
    after: BudgetSide
    caution: str
    seen: str


def preview_top_up(visit: Visit, form: TopUpForm) -> TopUpPreview:
    """Say what a top-up would change, or refuse it; nothing changes."""
    written = form.read()
    account, raised = foresee_top_up(visit, written)
    analyst = None if written[0] is None else visit.catalog.analyst(written[0])
    return TopUpPreview(
        name_account(form.account),
        " and ".join(f"{name} {text}" for name, text in (("epsilon", form.epsilon), ("delta", form.delta)) if text),
        _describe(analyst, account),
        _describe(analyst, raised),
        "" if analyst is None else _warn(read_dataset_account(visit), raised),
        identify_budget(account.budget),
    )


def _describe(analyst: Analyst | None, account: Filter) -> BudgetSide:
    costs = "" if analyst is None else terms(analyst.policy, account).says
    meaning = explain_amounts(account.budget.epsilon, account.budget.delta)
    return BudgetSide(say_budget(account.budget), say_left(account), costs, meaning)


def _warn(whole: Filter, raised: Filter) -> str:
    """What stands in the way of spending it: all that is paid is also paid from the dataset's budget."""
    if raised.left().epsilon <= whole.left().epsilon:
        return ""
    return f"The dataset has less left than that ({say_left(whole)}), so not all of it can be spent."
