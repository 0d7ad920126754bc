"""Which handler makes which page; who may see it, the table of roles says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.server.console import account, sign_in
from adomnia.server.console.assets import asset
from adomnia.server.console.owner import budgets, ledger, overview, people

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.server.roles import Route

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
    ("GET", "/owner"): overview.overview,
    ("GET", "/owner/ledger"): ledger.ledger,
    ("GET", "/owner/ledger/export"): ledger.export,
    ("POST", "/owner/ledger/verify"): overview.verify,
    ("GET", "/owner/budgets"): budgets.budgets,
    ("POST", "/owner/budgets/top-up"): budgets.top_up,
    ("GET", "/owner/people"): people.people,
    ("POST", "/owner/people/add"): people.add_person,
    ("POST", "/owner/people/link"): people.make_link,
    ("POST", "/owner/people/role"): people.change_role,
    ("POST", "/owner/people/remove"): people.remove_person,
    ("POST", "/owner/people/tokens/revoke"): people.revoke_token,
}
