"""Which handler makes which page; who may see it, the table of roles says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.server.console import account, sign_in
from adomnia.server.console.assets import asset
from adomnia.server.console.methods import pages as methods

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
    ("GET", "/methods"): methods.methods,
    ("GET", "/methods/{name}"): methods.method_form,
    ("POST", "/methods/{name}/price"): methods.price_method,
    ("POST", "/methods/{name}"): methods.ask_method,
}
