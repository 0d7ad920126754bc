"""The words around seeded answers: column labels, notes, titles and captions, as each surface says them."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from adomnia.cli import opening
from adomnia.errors import Refusal
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_all
from adomnia.methods.registry import METHODS
from adomnia.pricing.payment import needs_delta
from adomnia.sql.lower import lower
from adomnia.statistics.registry import STATISTICS
from kit import hospital
from kit.frozen.commands import enter
from kit.frozen.numbers import round_numbers
from kit.frozen.seeded import open_house, seeded
from kit.frozen.texts import normalise, read_text
from kit.house import DATASET, PASSWORD, House
from kit.methods import PEOPLE, VISITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adomnia.session.answer import Answer
    from adomnia.session.curator import Curator

_NAME = "bob"
_ENOUGH = "10"  # for most methods to have numbers; where there are none, other notes stand among the answers
_LEFT = re.compile(r"Left: .*\.$", re.MULTILINE)
_FILES = re.compile(r"<details class=\"drop\">.*?</details>", re.DOTALL)
_APART = ("rows", "notes", "left", "receipt")
_CELLS = 8  # of a column
_OPTIONS = {"inference": ("--population",)}
_ARGUMENTS = dict.fromkeys(("COVAR_POP", "COVAR_SAMP", "CORR"), "age, salary") | {"COUNT": "*", "QUANTILE": "age, 0.9"}
_AGGREGATES = [f"{name}({_ARGUMENTS.get(name, 'salary')})" for name in STATISTICS]
_JOINED = "visits JOIN people USING (person_id)"
# How they are asked: plainly, by groups, with Gaussian noise, and about the population.
_FORMS = {
    "alone": ("SELECT {} AS value FROM people", {"epsilon": "1"}),
    "in groups": ("SELECT sex, {} AS value FROM people GROUP BY sex", {"epsilon": "1"}),
    "filtered, gaussian": (f"SELECT {{}} FILTER (WHERE age > 30) AS value FROM {_JOINED}", {"rho": "0.5"}),
    "of the population": ("SELECT {} AS value FROM people", {"epsilon": "1", "inference": "population"}),
}
_ASKED = {
    "alone": [*_AGGREGATES, "COUNT(DISTINCT city)", "COUNT(DISTINCT person_id)", "AVG(member)", "MEDIAN(age)"],
    "in groups": ["COUNT(*)", "AVG(salary)", "QUANTILE(salary, 0.1)", "CORR(age, salary)"],
    "filtered, gaussian": ["COUNT(*)", "SUM(cost)", "AVG(cost)", "STDDEV_SAMP(cost)"],
    "of the population": ["AVG(salary)", "AVG(member)", "VAR_SAMP(salary)", "STDDEV_POP(salary)", "MEDIAN(salary)"],
}


def tell_methods() -> Iterator[tuple[str, str]]:
    """Every method by its own example."""
    with _asking() as telling:
        first_ones = {method.chapter: name for name, method in reversed(METHODS.items())}.values()
        for name, method in METHODS.items():
            delta = {"delta": "1e-9"} if needs_delta(lower(method.example, telling.curator.catalog)) else {}
            paid = {"epsilon": _ENOUGH, **delta}
            yield name, telling.tell(name, method.example, paid, shown=name in first_ones)


def tell_aggregates() -> Iterator[tuple[str, str]]:
    """Every aggregate of SQL, and each of the ways to ask for some."""
    with _asking() as telling:
        for form, aggregates in _ASKED.items():
            text, payment = _FORMS[form]
            for aggregate in aggregates:
                name, shown = f"{aggregate} {form}", aggregate == aggregates[0]
                yield name, telling.tell(name, text.format(aggregate), payment, shown=shown)


@contextmanager
def _asking() -> Iterator[_Telling]:
    """The house, and its curator, whom commands find too."""

    def write(folder: Path, text: str) -> Path:
        return hospital.write(folder, PEOPLE, VISITS, text)

    with open_house(hospital.CATALOG, write) as house, house.services.dataset.curator() as curator:
        house.services.access.set_password(_NAME, PASSWORD)

        @contextmanager
        def open_dataset(_folder: object) -> Iterator[Curator]:
            yield curator

        with patch.object(opening, "open_dataset", open_dataset):
            yield _Telling(house, curator, house.visit(_NAME)[0])


@dataclass(frozen=True)
class _Telling:
    """One who asks, and hears of the same answer from every surface."""

    house: House
    curator: Curator
    cookie: dict[str, str]

    def tell(self, name: str, text: str, payment: dict[str, str], *, shown: bool) -> str:
        """All that Python says, and of other surfaces what differs from it.

        Commands and pages take as long as ten answers: only some are `shown` by them, and of the others what the notes
        are there. That they show that, test_surfaces holds for all methods.
        """
        exact = {key: amount if key == "inference" else float(amount) for key, amount in payment.items()}
        request_id = re.sub(r"\W+", "-", name)
        with seeded(self.curator, name):
            answer = self.curator.session(_NAME).sql(text, **exact, request_id=request_id)
        record = self.house.ask(_NAME, "GET", f"{DATASET}/answers/{request_id}").json()
        said = repr(answer).splitlines()
        lines = [text, *said, *_tell_figure(answer)]
        for surface in Surface:
            lines += _tell_others(f"Notes for the {surface.value}", show_all(answer.notes, surface), answer.notes)
        lines += _tell_others("HTTP", [*record["notes"], *_describe_rest(record)], answer.notes)
        if shown:
            lines += _tell_others("The command line", _type_in(text, payment), said)
            lines += ["The page says:", *self._read_page(request_id)]
        return _LEFT.sub("Left: some.", normalise("\n".join(lines)))

    def _read_page(self, request_id: str) -> list[str]:
        """The page of an answer, but for the links to its files."""
        page = self.house.client.request("GET", f"/answers/{request_id}", headers=self.cookie).text
        return read_text(_FILES.sub("", page[page.index("<main") : page.index("</main>")])).splitlines()


def _type_in(text: str, payment: dict[str, str]) -> list[str]:
    """What the command prints of the same answer."""
    options = [part for key, amount in payment.items() for part in _OPTIONS.get(key, (f"--{key}", amount))]
    code, printed, complained = enter("sql", "hospital", text, *options, "--analyst", _NAME)
    assert (code, complained) == (0, ""), complained
    return printed.splitlines()


def _tell_others(surface: str, lines: Iterable[str], known: Iterable[str]) -> list[str]:
    """The lines that another surface says otherwise; their spaces are those of its tables."""
    plain = {" ".join(line.split()) for line in known}
    others = [line for line in lines if " ".join(line.split()) not in plain]
    return [f"{surface} says:", *others] if others else []


def _tell_figure(answer: Answer) -> Iterator[str]:
    """Title, caption and titles of axes and legends of its picture."""
    with TemporaryDirectory() as folder:
        try:
            spec = json.loads(answer.plot(Path(folder) / "picture.json").read_text(encoding="utf-8"))
        except Refusal as refusal:
            yield f"No picture: {refusal}"
            return
    title = spec.pop("title")
    yield f"Picture: {title['text']}"
    yield from (f"caption: {line}" for line in title.get("subtitle", ()))
    yield from (f"titles: {each}" for each in dict.fromkeys(_list_titles(spec)))


def _list_titles(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (part[key] for key in ("title",) if isinstance(part.get(key), str))
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for each in inner:
        yield from _list_titles(each)


def _describe_rest(record: dict[str, Any]) -> Iterator[str]:
    """All that JSON says beside rows, notes and what is other every time."""
    for name, told in sorted(record.items()):
        if name == "columns":
            yield from (f"column: {_write(_cut(part))}" for part in told)
        elif name not in _APART:
            yield f"{name}: {_write(told)}"


def _cut(column: dict[str, Any]) -> dict[str, Any]:
    """A column with the first of its cells: all of them are among the answers that are frozen."""
    return {name: part[:_CELLS] if isinstance(part, list) else part for name, part in column.items()}


def _write(told: Any) -> str:
    return json.dumps(round_numbers(told), sort_keys=True, ensure_ascii=False)
