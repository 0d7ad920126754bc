"""Which roles may use which route: the table from which the app is built, and which tests check completely."""

from __future__ import annotations

from adomnia.api.access import Role
from adomnia.wire import models

API = models.API
DATASET = f"{API}/datasets/{{dataset}}"

ANYBODY = None  # signed in or not
SIGNED_IN = frozenset(Role)
OWNER = frozenset({Role.OWNER})
ANALYST = frozenset({Role.ANALYST})
OVERSIGHT = frozenset({Role.OWNER, Role.AUDITOR})

Route = tuple[str, str]
Roles = frozenset[Role] | None

ROUTES: dict[Route, Roles] = {
    ("GET", f"{API}/health"): ANYBODY,
    ("GET", f"{API}/ready"): ANYBODY,
    ("POST", f"{API}/sign-in"): ANYBODY,
    ("POST", f"{API}/sign-in/link"): ANYBODY,
    ("POST", f"{API}/sign-out"): SIGNED_IN,
    ("GET", f"{API}/me"): SIGNED_IN,
    ("POST", f"{API}/password"): SIGNED_IN,
    ("GET", f"{API}/tokens"): SIGNED_IN,
    ("POST", f"{API}/tokens"): SIGNED_IN,
    ("DELETE", f"{API}/tokens/{{token_id}}"): SIGNED_IN,
    ("GET", f"{API}/users"): OWNER,
    ("POST", f"{API}/users"): OWNER,
    ("PATCH", f"{API}/users/{{name}}"): OWNER,
    ("DELETE", f"{API}/users/{{name}}"): OWNER,
    ("POST", f"{API}/users/{{name}}/link"): OWNER,
    ("GET", f"{API}/methods"): SIGNED_IN,
    ("GET", f"{API}/datasets"): SIGNED_IN,
    ("GET", f"{DATASET}/catalog"): SIGNED_IN,
    ("POST", f"{DATASET}/query"): ANALYST,
    ("POST", f"{DATASET}/price"): ANALYST,
    ("POST", f"{DATASET}/explain"): ANALYST,
    ("POST", f"{DATASET}/batch"): ANALYST,
    ("GET", f"{DATASET}/answers"): ANALYST,
    ("GET", f"{DATASET}/answers/{{request_id}}"): ANALYST,
    ("GET", f"{DATASET}/explanations/{{request_id}}"): ANALYST,
    ("GET", f"{DATASET}/budget"): ANALYST,
    ("GET", f"{DATASET}/shares"): ANALYST,
    ("POST", f"{DATASET}/shares"): ANALYST,
    ("DELETE", f"{DATASET}/shares/{{share_id}}"): ANALYST,
    ("GET", f"{DATASET}/shared/{{code}}"): ANALYST,
    ("POST", f"{DATASET}/shared/{{code}}"): ANALYST,
    ("POST", f"{DATASET}/releases"): ANALYST,
    ("GET", f"{DATASET}/releases"): SIGNED_IN,
    ("GET", f"{DATASET}/releases/{{release}}"): SIGNED_IN,
    ("GET", f"{DATASET}/releases/{{release}}/archive"): SIGNED_IN,
    ("GET", f"{DATASET}/accounts"): OVERSIGHT,
    ("POST", f"{DATASET}/accounts/top-up"): OWNER,
    ("GET", f"{DATASET}/ledger"): OVERSIGHT,
    ("GET", f"{DATASET}/ledger/verify"): OVERSIGHT,
    ("GET", f"{DATASET}/catalog/text"): OVERSIGHT,
    ("GET", f"{DATASET}/catalog/text/{{older}}"): OVERSIGHT,
    ("PUT", f"{DATASET}/catalog/text"): OWNER,
    ("POST", f"{DATASET}/catalog/check"): OWNER,
    ("GET", f"{API}/metrics"): OVERSIGHT,
    ("GET", f"{API}/openapi.json"): SIGNED_IN,
}
"""The API: what the OpenAPI document describes."""

PAGES: dict[Route, Roles] = {
    ("GET", "/"): SIGNED_IN,
    ("GET", "/sign-in"): ANYBODY,
    ("POST", "/sign-in"): ANYBODY,
    ("POST", "/sign-out"): SIGNED_IN,
    ("GET", "/static/{name}"): ANYBODY,
    ("GET", "/account"): SIGNED_IN,
    ("POST", "/account/tokens"): SIGNED_IN,
    ("POST", "/account/tokens/revoke"): SIGNED_IN,
    ("POST", "/account/password"): SIGNED_IN,
    ("GET", "/answers"): ANALYST,
    ("POST", "/answers/share"): ANALYST,
    ("POST", "/answers/share/end"): ANALYST,
    ("GET", "/shared/{code}"): ANALYST,
    ("POST", "/shared/{code}"): ANALYST,
    ("GET", "/budget"): ANALYST,
    ("GET", "/ask"): ANALYST,
    ("POST", "/ask/price"): ANALYST,
    ("POST", "/ask/mock"): ANALYST,
    ("POST", "/ask"): ANALYST,
    ("GET", "/owner/catalog"): OVERSIGHT,
    ("GET", "/owner/catalog/edit"): OWNER,
    ("POST", "/owner/catalog/preview"): OWNER,
    ("POST", "/owner/catalog/save"): OWNER,
    ("GET", "/data"): SIGNED_IN,
    ("GET", "/data/{table}"): SIGNED_IN,
    ("GET", "/owner"): OVERSIGHT,
    ("GET", "/owner/ledger"): OVERSIGHT,
    ("GET", "/owner/ledger/export"): OVERSIGHT,
    ("POST", "/owner/ledger/verify"): OVERSIGHT,
    ("GET", "/owner/budgets"): OVERSIGHT,
    ("POST", "/owner/budgets/top-up"): OWNER,
    ("GET", "/owner/people"): OWNER,
    ("POST", "/owner/people/add"): OWNER,
    ("POST", "/owner/people/link"): OWNER,
    ("POST", "/owner/people/role"): OWNER,
    ("POST", "/owner/people/remove"): OWNER,
    ("POST", "/owner/people/tokens/revoke"): OWNER,
    # Before the answer itself: a request id may contain slashes.
    ("GET", "/answers/{request_id}/figure.svg"): ANALYST,
    ("GET", "/answers/{request_id}/export"): ANALYST,
    ("GET", "/answers/{request_id}"): ANALYST,
    ("GET", "/ask/words"): ANALYST,
    ("GET", "/methods"): ANALYST,
    ("GET", "/methods/{name}"): ANALYST,
    ("POST", "/methods/{name}/price"): ANALYST,
    ("POST", "/methods/{name}"): ANALYST,
    ("GET", "/releases"): SIGNED_IN,
    ("GET", "/releases/{name}/figure.svg"): SIGNED_IN,
    ("GET", "/releases/{name}/quality.svg"): SIGNED_IN,
    ("GET", "/releases/{name}/archive"): SIGNED_IN,
    ("GET", "/releases/{name}"): SIGNED_IN,
}
"""The pages for browsers."""

LONG_TEXTS = (DATASET, "/ask", "/methods", "/owner/catalog")
"""Where questions and catalogs are sent to: their bodies may be larger than others."""

READING: frozenset[Route] = frozenset(
    {
        ("POST", f"{DATASET}/query"),
        ("POST", f"{DATASET}/batch"),
        ("POST", f"{DATASET}/releases"),
        ("POST", f"{DATASET}/shared/{{code}}"),
        ("POST", "/ask"),
        ("POST", "/methods/{name}"),
        ("POST", "/shared/{code}"),
    }
)
"""Routes that may read data, whose times are rounded to edges of time buckets even in the log."""


def roles_of(method: str, path: str) -> Roles:
    """The roles that may use a route; a route that is not in the table is a KeyError, and the server does not start."""
    return (ROUTES | PAGES)[method, path]
