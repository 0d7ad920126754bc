"""Ledgers as a version of this program wrote them, with the answers that they hold: a later one replays each for free.

`python tests/kit/old_ledgers.py NAME` writes tests/fixtures/ledgers/NAME with the code that it finds, whose answers
must then never change: catalog, public table, the database as SQL, and every answer as it was given. Do it once for a
version, before its code changes, and keep all of them.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from adomnia.engines.registry import load_engine
from adomnia.ledger.chain import Anchor, Head, digest
from adomnia.methods.registry import METHODS
from adomnia.plans.columns import ValueColumn
from adomnia.session import mock
from adomnia.session.curator import LEDGER, Curator, open_ledger, read_catalog
from adomnia.wire.answers import answer_record
from kit.bits import SeededBits
from kit.hospital import CATALOG, declare, load
from kit.methods import PEOPLE, VISITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.session.answer import Answer
    from adomnia.session.session import LocalSession

FOLDER = Path(__file__).parents[1] / "fixtures" / "ledgers"
POLICIES = """
[analysts.dora]
epsilon = 10
policy = "equal_split"
questions = 10

[analysts.eve]
epsilon = 10
policy = "geometric"
spend = 0.2
"""
Asked = dict[str, Any]

_SQL: dict[str, Asked] = {
    "SELECT COUNT(*) AS n FROM people": {"epsilon": 1},
    "SELECT COUNT(*) AS n, SUM(salary), AVG(age) FROM people WHERE age >= 18": {"epsilon": 1.5},
    "SELECT city, AVG(salary) AS pay FROM people GROUP BY city ORDER BY pay DESC LIMIT 3": {"epsilon": 2},
    "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY sex, city HAVING COUNT(*) > 10": {"rho": 0.1},
    "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex, city)": {"epsilon": 1},
    "SELECT VARIANCE(age), STDDEV(salary), CORR(age, salary) FROM people": {"epsilon": 3},
    "SELECT city, MEDIAN(salary) AS half FROM people GROUP BY city": {"epsilon": 4},
    "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age), MIN(age), MAX(age) FROM people": {"epsilon": 3},
    "SELECT MEDIAN(age) FROM people": {"epsilon": 1, "interval": False},
    "SELECT MEDIAN(salary) AS half, AVG(salary) AS mean FROM people": {"rho": 0.5, "confidence": 0.9},
    "SELECT hospital, SUM(cost) / COUNT(*) AS dear, COUNT(DISTINCT person_id) FROM visits GROUP BY 1": {"epsilon": 2},
    "SELECT hospital, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY 1": {
        "epsilon": 1
    },
    "SELECT day, COUNT(*) AS n FROM visits GROUP BY day": {"epsilon": 2, "delta": 1e-9, "analyst": "bob"},
    "SELECT eye_color, sex, AVG(age) FROM people GROUP BY 1, 2": {"rho": 1, "delta": 1e-9},
    "SELECT p.city, COUNT(*) FROM people AS p JOIN visits AS v ON p.person_id = v.person_id GROUP BY 1": {"epsilon": 1},
    "SELECT AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) AS own": {"epsilon": 1},
    "SELECT AVG(salary) FROM people": {"epsilon": 1, "inference": "population"},
    "SELECT sex, SUM(salary) FROM people GROUP BY sex": {"rho": 0.2, "effort": "high"},
    "SELECT COUNT(*) AS n, SUM(salary) AS s FROM people": {"epsilon": 1, "weights": {"n": 1, "s": 3}},
    "SELECT COUNT(*) FROM visits": {"error": 25, "confidence": 0.9},
    "SELECT COUNT(*) FROM people WHERE member": {"epsilon": 1, "replay": False},
    "SELECT COUNT(*) AS n FROM people WHERE sex = 'F'": {"analyst": "dora"},
    "SELECT city, MEDIAN(age) FROM people GROUP BY city": {"analyst": "dora"},
    "SELECT AVG(salary) FROM people WHERE member": {"analyst": "eve"},
}
_BATCHES: tuple[Asked, ...] = (
    {"questions": ["SELECT COUNT(*) FROM people", "SELECT city, SUM(age) FROM people GROUP BY city"], "epsilon": 1},
    {"questions": ["SELECT MEDIAN(age) FROM people", "SELECT COUNT(*), AVG(score) FROM people"], "rho": 0.4},
    {"questions": ["SELECT COUNT(*) FROM visits", "SELECT AVG(cost) FROM visits"], "analyst": "eve"},
)
_IN_ROUNDS = (
    *("summary", "quantiles", "iqr", "mad", "trimmed_mean", "winsorized_mean", "huber_location", "mle"),
    *("logit", "poisson", "huber_regression", "knn_regression", "lm"),
    *("mwem", "small_database", "boosting", "aim", "mst"),
)
_WITH_DELTA = ("ptr_iqr", "ptr_median", "robust_lm")
_SHARED = "SELECT city, AVG(salary) AS pay FROM people GROUP BY city ORDER BY pay DESC LIMIT 3"  # which alice paid for


def write_ledger(folder: Path) -> None:
    """Ask all questions of rows in memory, and write down the ledger and the answers."""
    folder.mkdir(parents=True)
    catalog = declare(folder, CATALOG + POLICIES)
    with TemporaryDirectory() as place:
        path = Path(place) / LEDGER
        colours = ("blue", "brown", "green")
        people = [each | {"eye_color": colours[place % 3]} for place, each in enumerate(PEOPLE)]
        engine = load(catalog, people, VISITS)
        with Curator.open(catalog, engine, open_ledger(catalog, path), SeededBits("old")) as curator:
            answers = [_ask(curator, asked) for asked in _list_asked()]
        with closing(sqlite3.connect(path)) as database:
            (folder / "ledger.sql").write_text("".join(f"{line}\n" for line in _dump(database)))
    (folder / "answers.json").write_text("".join(f"{line}\n" for line in _lines(answers)))


def _dump(database: sqlite3.Connection) -> Iterator[str]:
    """The database as SQL, with the numbers by which a ledger knows its own."""
    yield from database.iterdump()
    for name in ("application_id", "user_version"):
        ((number,),) = database.execute(f"PRAGMA {name}")
        yield f"PRAGMA {name} = {number};"


def _lines(answers: list[Asked]) -> Iterator[str]:
    for place, each in enumerate(answers):
        yield f"{'[' if place == 0 else ' '}{json.dumps(each)}{']' if place == len(answers) - 1 else ','}"


def _list_asked() -> Iterator[Asked]:
    for text, said in _SQL.items():
        yield {"questions": [text], **said}
    yield {"questions": [_SHARED], "epsilon": 2, "analyst": "bob"}
    yield from _BATCHES
    for name in _IN_ROUNDS:
        yield {"questions": [METHODS[name].example], "rho": 2}
    for name in _WITH_DELTA:
        yield {"questions": [METHODS[name].example], "epsilon": 3, "delta": 1e-9, "analyst": "bob"}
    for name in ("quantiles", "trimmed_mean", "logit"):
        yield {"questions": [METHODS[name].example], "epsilon": 3}


def _ask(curator: Curator, asked: Asked) -> Asked:
    given = answer_again(curator, asked)
    assert given[0].receipt is not None
    return {**asked, "request_id": given[0].receipt.request_id, "answers": [describe(each) for each in given]}


def open_session(curator: Curator, asked: Asked) -> LocalSession:
    """The session of whoever asked."""
    return curator.session(asked.get("analyst", "bob" if "rho" in asked else "alice"))


def answer_again(curator: Curator, asked: Asked) -> list[Answer]:
    """What is answered to questions as they were asked: the same, at no price, once they were paid for."""
    said = {key: value for key, value in asked.items() if key not in {"questions", "analyst", "request_id", "answers"}}
    session = open_session(curator, asked)
    if len(asked["questions"]) > 1:
        return session.batch(asked["questions"], allow_uninformative=True, **said)
    return [session.sql(asked["questions"][0], allow_uninformative=True, **said)]


def describe(answer: Answer) -> Asked:
    """All that was released, but for what depends on the hour: numbers too that are not shown any more."""
    record = answer_record(answer)
    for column, told in zip(answer.typed_columns, record["columns"], strict=True):
        if isinstance(column, ValueColumn) and told.pop("missing", None):
            shown = replace(column.estimate, derivation=None, unsigned=False, limits=(0.0, 0.0))
            (raw,) = answer_record(replace(answer, typed_columns=(replace(column, estimate=shown),)))["columns"]
            told["values"] = raw["values"]
    return {name: part for name, part in record.items() if name not in {"left", "replayed"}}


@contextmanager
def open_old(name: str, place: Path) -> Iterator[Curator]:
    """The dataset of a ledger that an earlier version wrote, over made-up rows: whatever is replayed reads none."""
    catalog = read_catalog(FOLDER / name)
    path = place / LEDGER
    with closing(sqlite3.connect(path)) as database:
        database.executescript((FOLDER / name / "ledger.sql").read_text())
        (newest,) = database.execute("SELECT sequence, body FROM entries ORDER BY sequence DESC LIMIT 1")
    Anchor(path).create(Head(newest[0], digest(newest[1].encode())))
    engine = load_engine().load(catalog, mock.frames(catalog))
    with Curator.open(catalog, engine, open_ledger(catalog, path), SeededBits("new")) as curator:
        yield curator


def read_answers(name: str) -> list[Asked]:
    """The questions that it holds answers to, with these."""
    found: list[Asked] = json.loads((FOLDER / name / "answers.json").read_text())
    for answer in (each for asked in found for each in asked["answers"]):
        answer["simultaneous"] = answer.pop("together")  # as replies called it then
    return found


if __name__ == "__main__":
    write_ledger(FOLDER / sys.argv[1])
