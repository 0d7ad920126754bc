"""Which handler makes which page; who may see it, the table of roles says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.console import account, sign_in
from adomnia.console.answers import pages as answers
from adomnia.console.ask import page as ask
from adomnia.console.ask_words import ask_words
from adomnia.console.budget import page as budget
from adomnia.console.catalog import handlers as catalog
from adomnia.console.data import page as data_page
from adomnia.console.history import page as history
from adomnia.console.history import sharing
from adomnia.console.methods import pages as methods
from adomnia.console.owner import budgets, ledger, overview, people
from adomnia.console.releases import handlers as releases
from adomnia.console.rendering import asset

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.api.roles import Route

PAGE_HANDLERS: dict[Route, Callable[..., Any]] = {
    ("GET", "/"): sign_in.home,
    ("GET", "/sign-in"): sign_in.sign_in_page,
    ("POST", "/sign-in"): sign_in.sign_in_form,
    ("POST", "/sign-out"): sign_in.sign_out_form,
    ("GET", "/static/{name}"): asset,
    ("GET", "/account"): account.account,
    ("POST", "/account/tokens"): account.make_token,
    ("POST", "/account/tokens/revoke"): account.revoke_token,
    ("POST", "/account/password"): account.change_password,
    ("GET", "/answers"): history.history,
    ("POST", "/answers/share"): sharing.share,
    ("POST", "/answers/share/end"): sharing.end_share,
    ("GET", "/shared/{code}"): sharing.open_shared,
    ("POST", "/shared/{code}"): sharing.take_shared,
    ("GET", "/budget"): budget.budget,
    ("GET", "/ask"): ask.ask_page,
    ("POST", "/ask/price"): ask.price_question,
    ("POST", "/ask/mock"): ask.try_question,
    ("POST", "/ask"): ask.ask_question,
    ("GET", "/owner/catalog"): catalog.catalog_page,
    ("GET", "/owner/catalog/edit"): catalog.edit_catalog,
    ("POST", "/owner/catalog/preview"): catalog.preview_catalog,
    ("POST", "/owner/catalog/save"): catalog.save_catalog,
    ("GET", "/data"): data_page.data,
    ("GET", "/data/{table}"): data_page.data_table,
    ("GET", "/owner"): overview.overview,
    ("GET", "/owner/ledger"): ledger.ledger,
    ("GET", "/owner/ledger/export"): ledger.export,
    ("POST", "/owner/ledger/verify"): overview.verify,
    ("GET", "/owner/budgets"): budgets.budgets,
    ("POST", "/owner/budgets/top-up"): budgets.raise_budget,
    ("GET", "/owner/people"): people.people,
    ("POST", "/owner/people/add"): people.add_person,
    ("POST", "/owner/people/link"): people.make_link,
    ("POST", "/owner/people/role"): people.change_role,
    ("POST", "/owner/people/remove"): people.remove_person,
    ("POST", "/owner/people/tokens/revoke"): people.revoke_token,
    ("GET", "/answers/{request_id}/figure.svg"): answers.figure,
    ("GET", "/answers/{request_id}/export"): answers.export,
    ("GET", "/answers/{request_id}"): answers.answer,
    ("GET", "/ask/words"): ask_words,
    ("GET", "/methods"): methods.methods,
    ("GET", "/methods/{name}"): methods.method_form,
    ("POST", "/methods/{name}/price"): methods.price_method,
    ("POST", "/methods/{name}"): methods.ask_method,
    ("GET", "/releases"): releases.releases,
    ("GET", "/releases/{name}/figure.svg"): releases.figure,
    ("GET", "/releases/{name}/quality.svg"): releases.quality,
    ("GET", "/releases/{name}/archive"): releases.archive,
    ("GET", "/releases/{name}"): releases.release,
}
