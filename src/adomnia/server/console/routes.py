"""Which handler makes which page; who may see it, the table of roles says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.server.console import account, sign_in
from adomnia.server.console.ask_words import ask_words
from adomnia.server.console.assets import asset

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
    ("GET", "/ask/words"): ask_words,
}
