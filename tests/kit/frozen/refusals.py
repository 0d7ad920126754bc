"""Refusals as each surface tells them: in process, over HTTP, on the command line and in the console."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from adomnia.cli import opening
from adomnia.errors import Refusal
from kit import corpus
from kit.frozen.commands import enter
from kit.frozen.seeded import open_corpus
from kit.frozen.texts import read_text
from kit.house import ADDRESS, DATASET, PASSWORD, House

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.session.curator import Curator

_NAME = "bob"
_PAYMENT = {"epsilon": 1}
_LONGEST = 300
_OPTION = re.compile(r"\b[a-z_]+=|`")  # named in a refusal
_COUNT = "SELECT COUNT(*) AS n FROM people"
_AVERAGE = "SELECT sex, AVG(salary) AS pay FROM people GROUP BY sex"
_FOUND = "SELECT name, COUNT(*) FROM people GROUP BY name"
# Options that are refused, which each surface calls otherwise.
_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "no price": (_COUNT, {}),
    "two prices": (_COUNT, {"epsilon": 1, "rho": 1}),
    "negative": (_COUNT, {"epsilon": -1}),
    "too much": (_COUNT, {"epsilon": 10**9}),
    "confidence": (_COUNT, {"epsilon": 1, "confidence": 1.5}),
    "effort": (_AVERAGE, {"epsilon": 1, "effort": "high"}),
    "delta of nothing": (_COUNT, {"epsilon": 1, "delta": 1e-9}),
    "keys without delta": (_FOUND, {"epsilon": 1}),
    "weights": (_COUNT, {"epsilon": 1, "weights": {"m": 2}}),
    "error of nothing": (_COUNT, {"error": 0}),
    "rows": (_AVERAGE, {"error": 100, "rows": 0}),
    "parameters": (_COUNT, {"epsilon": 1, "parameters": {"least": 3}}),
    "a parameter that is missing": (f"{_COUNT} WHERE age > :least", {"epsilon": 1}),
    "a release that there is not": (_COUNT, {"from_release": True}),
}
_SWITCHES = {"from_release": "--from-release"}
_LISTS = {"weights": "--weight", "parameters": "--parameter"}


def tell_refusals() -> Iterator[tuple[str, str]]:
    """Every question that is refused, and every option.

    Surfaces beside Python are asked the first question of each code in each file, and whatever is said of options: they
    take ten times as long, and the words of all others are the same.
    """
    with _asking() as refusing:
        known: set[tuple[str, str]] = set()
        for key, asked in _name(corpus.refused()).items():
            refusal = refusing.ask(asked.text, _PAYMENT)
            if refusal is None:
                yield key, "A session answers it, from public facts."
                continue
            sort = (asked.topic, refusal.code)
            everywhere = sort not in known or _OPTION.search(str(refusal)) is not None
            known.add(sort)
            others = refusing.tell_others(asked.text, _PAYMENT, refusal, console=True) if everywhere else []
            yield key, "\n".join([f"{refusal.code}: {refusal}", *others])
        for name, (text, payment) in _OPTIONS.items():
            refusal = refusing.ask(text, payment)
            assert refusal is not None, name
            others = refusing.tell_others(text, payment, refusal, console=False)
            yield f"options: {name}", "\n".join([f"{refusal.code}: {refusal}", *others])


def _name(questions: list[corpus.Asked]) -> dict[str, corpus.Asked]:
    """By a line for each: some are of several lines, have no text, or are too long to be told."""
    found: dict[str, corpus.Asked] = {}
    for asked in questions:
        line = str(asked).strip()
        key = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}... of {len(asked.text)} letters"
        again = sum(other.partition(" #")[0] == key for other in found)
        found[f"{key} #{again + 1}" if again else key] = asked
    return found


@contextmanager
def _asking() -> Iterator[_Refusing]:
    with open_corpus() as house, house.services.dataset.curator() as curator:
        house.services.access.set_password(_NAME, PASSWORD)

        @contextmanager
        def open_dataset(_folder: object) -> Iterator[Curator]:
            yield curator

        with patch.object(opening, "open_dataset", open_dataset):
            yield _Refusing(house, curator, *house.visit(_NAME))


@dataclass(frozen=True)
class _Refusing:
    """One who asks what is refused."""

    house: House
    curator: Curator
    cookie: dict[str, str]
    csrf: str

    def ask(self, text: str, payment: dict[str, Any]) -> Refusal | None:
        """Why a session in process does not answer."""
        try:
            self.curator.session(_NAME).sql(text, **payment)
        except Refusal as refusal:
            return refusal
        return None

    def tell_others(self, text: str, payment: dict[str, Any], refusal: Refusal, *, console: bool) -> Iterator[str]:
        """What programs are told otherwise, and what the console says."""
        others = {"HTTP": self._send(text, payment, refusal.code), "command line": _type_in(text, payment)}
        yield from (f"{surface}: {told}" for surface, told in others.items() if told != str(refusal))
        if console:
            yield f"console: {self._look(text)}"

    def _send(self, text: str, payment: dict[str, Any], code: str) -> str:
        """The same sentence, of the parts that JSON has."""
        reply = self.house.ask(_NAME, "POST", f"{DATASET}/query", json={"sql": text, **payment})
        told = reply.json()["error"]
        place = "" if told["position"] is None else " (line {}, column {})".format(*told["position"])
        said = f"{told['what']} {told['why']}. Fix: {told['fix']}.{place}"
        return (
            said if (reply.status_code, told["code"]) == (400, code) else f"{reply.status_code} {told['code']}: {said}"
        )

    def _look(self, text: str) -> str:
        """What stands below the question, and the ways on that are offered."""
        headers = {**self.cookie, "Origin": ADDRESS, "X-Part": "question"}
        form = {"csrf": self.csrf, "sql": text, "pay": "epsilon", "amount": "1"}
        page = self.house.client.request("POST", "/ask/price", headers=headers, data=form).text
        return " / ".join(read_text(page[page.rindex("</textarea>") :]).splitlines())


def _type_in(text: str, payment: dict[str, Any]) -> str:
    """What the command complains about."""
    options: list[str] = []
    for name, value in payment.items():
        if name in _LISTS:
            options += [part for key, each in value.items() for part in (_LISTS[name], f"{key}={each}")]
        else:
            options += [_SWITCHES[name]] if name in _SWITCHES else [f"--{name}", str(value)]
    code, printed, complained = enter("sql", "hospital", text, *options, "--analyst", _NAME)
    said = complained.removeprefix("Refusal: ").strip()
    return said if (code, printed) == (2, "") and said != complained.strip() else f"{code} {printed}{complained}"
