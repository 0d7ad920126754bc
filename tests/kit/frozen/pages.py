"""Every route of the console once, as an owner and as an analyst get it: a page as HTML, anything else by its kind."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch
from urllib.parse import quote

from adomnia.api.roles import ANYBODY, PAGES
from adomnia.session import curator as curators
from kit.bits import SeededBits
from kit.frozen.seeded import open_house, seeded
from kit.frozen.texts import normalise, normalise_page
from kit.house import ADDRESS, PASSWORD, write_few
from kit.publishing import CATALOG, COUNTS, RANGES, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from httpx import Response

    from kit.house import House

_VISITORS = ("olga", "alice")
_QUESTION = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean_age FROM people GROUP BY sex"
_MODEL = "SELECT * FROM frequencies(people, factor => sex)"
_ASKED = {"asked": (_QUESTION, {"epsilon": 10}), "model": (_MODEL, {"epsilon": 5})}
_RELEASED = {"sexes": COUNTS, "years": RANGES, "nobody": ROWS}
# What stands in the braces of addresses.
_PLACES = {
    "/static/{name}": "/static/mark.svg",
    "/data/{table}": "/data/people",
    "/shared/{code}": "/shared/0123456789abcdef",
    "/answers/{request_id}/figure.svg": "/answers/asked/figure.svg",
    "/answers/{request_id}/export": "/answers/asked/export?form=csv",
    "/answers/{request_id}": "/answers/asked",
    "/methods/{name}": "/methods/lm",
    "/methods/{name}/price": "/methods/lm/price",
    "/releases/{name}/figure.svg": "/releases/sexes/figure.svg",
    "/releases/{name}/quality.svg": "/releases/sexes/quality.svg",
    "/releases/{name}/archive": "/releases/sexes/archive",
    "/releases/{name}": "/releases/sexes",
}
# Other pages of some routes, which look otherwise.
_FURTHER = (
    *("/answers/model", "/ask?sql=SELECT+AVG(salery)+FROM+people", f"/ask?sql={quote(_QUESTION)}&pay=rho&amount=0.5"),
    *("/releases/years", "/releases/nobody", "/methods?q=median", "/methods/kaplan_meier", "/data/visits"),
    *("/answers?q=n", "/owner/ledger?kind=reserve", "/nowhere"),
)
_REGRESSION = {"source": "table", "table": "people", "formula": "salary ~ age", "pay": "epsilon", "amount": "1"}
# What is sent by forms, in an order in which one may follow another.
_SENT = {
    "/sign-in": {"name": "alice", "password": "wrong"},
    "/ask/price": {"sql": _QUESTION, "pay": "epsilon", "amount": "2"},
    "/ask/mock": {"sql": _QUESTION, "pay": "epsilon", "amount": "2"},
    "/ask": {"sql": "SELECT name FROM people", "pay": "epsilon", "amount": "2"},
    "/methods/{name}/price": _REGRESSION,
    "/methods/{name}": {**_REGRESSION, "formula": "salary ~ agee"},
    "/shared/{code}": {},
    "/answers/share": {"request_id": "asked"},
    "/answers/share/end": {"link": "none"},
    "/account/tokens": {"label": "for a notebook"},
    "/account/tokens/revoke": {"token": "0123456789abcdef"},
    "/account/password": {"old": "wrong", "new": "another long password", "again": "another long password"},
    "/owner/catalog/preview": {"text": CATALOG.replace("120", "110"), "part": "text", "go": "text"},
    "/owner/catalog/save": {"text": CATALOG.replace("120", "110"), "part": "text", "password": "wrong"},
    "/owner/ledger/verify": {"back": "/owner/ledger"},
    "/owner/budgets/top-up": {"account": "alice", "epsilon": "1", "delta": "0", "reason": "more to ask"},
    "/owner/people/add": {"name": "dora", "role": "analyst"},
    "/owner/people/link": {"name": "bob"},
    "/owner/people/role": {"name": "bob", "role": "auditor"},
    "/owner/people/remove": {"name": "bob"},
    "/owner/people/tokens/revoke": {"token": "0123456789abcdef"},
    "/sign-out": {},
}
_LINK = re.compile(r"(/shared/|[?&;]code=|#)[0-9A-Za-z_-]{20,}")


def visit_pages() -> Iterator[tuple[str, str]]:
    """All of them: first what is looked at, then what is sent."""
    with _prepare() as house:
        yield "GET /sign-in, nobody", _describe(house.client.request("GET", "/sign-in"))
        visits = {name: house.visit(name) for name in _VISITORS}
        looked_at = [_PLACES.get(path, path) for method, path in PAGES if method == "GET"]
        for path in (*looked_at, *_FURTHER):
            for name, (cookie, _) in visits.items():
                yield f"GET {path}, {name}", _describe(house.client.request("GET", path, headers=cookie))
        assert set(_SENT) == {path for method, path in PAGES if method == "POST"}
        for path, fields in _SENT.items():
            for name, (cookie, csrf) in visits.items():
                headers = {"Origin": ADDRESS} | ({} if PAGES["POST", path] is ANYBODY else cookie)
                sent = {**fields, "csrf": csrf}
                reply = house.client.request("POST", _PLACES.get(path, path), headers=headers, data=sent)
                yield f"POST {path}, {name}", _describe(reply)


@contextmanager
def _prepare() -> Iterator[House]:
    """A house with releases and answers, whose owner and analyst have passwords."""
    mock_noise = patch.object(curators, "SystemBits", lambda: SeededBits("made up"))
    with open_house(CATALOG, write_few) as house, mock_noise:
        with house.services.dataset.curator() as curator:
            alice = curator.session("alice")
            for name, text in _RELEASED.items():
                with seeded(curator, name):
                    alice.release(name, text, epsilon=1)
            for request_id, (text, payment) in _ASKED.items():
                with seeded(curator, request_id):
                    alice.sql(text, request_id=request_id, **payment)
        for name in _VISITORS:
            house.services.access.set_password(name, PASSWORD)
        yield house


def _describe(reply: Response) -> str:
    """Status and kind, and what is text."""
    kind = reply.headers.get("content-type", "nothing")
    head = f"{reply.status_code} {kind}"
    if "location" in reply.headers:
        head += f" to {reply.headers['location']}"
    written = kind.startswith(("text/html", "text/csv", "application/json"))
    body = normalise_page(reply.text) if kind.startswith("text/html") else normalise(reply.text) if written else ""
    return _LINK.sub(r"\1CODE", f"{head}\n{body}")
