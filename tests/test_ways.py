"""How many of our modules a question passes through: each is a file that whoever follows its way has to open."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from kit import hospital, house
from kit.ways import Ways

if TYPE_CHECKING:
    from collections.abc import Callable

# The most modules whose code may run, the first time that a question is asked of a dataset that is open.
BARS = {"COUNT": 93, "AVG": 110, "POST query": 123, "GET method": 114}
COUNT = "SELECT COUNT(*) AS n FROM people"
AVERAGE = "SELECT city, AVG(salary) AS pay FROM people GROUP BY city"


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The modules of each way."""
    catalog = hospital.declare(tmp_path_factory.mktemp("hospital"))
    people = [hospital.person(k, age=20 + k, salary=30_000 + k, city="Oslo") for k in range(40)]
    found: dict[str, set[str]] = {}
    with Ways.watched() as ways:
        for name, text in (("COUNT", COUNT), ("AVG", AVERAGE)):
            with hospital.curated(catalog, people, []) as curator:
                ask = partial(curator.session("alice").sql, text, epsilon=1)
                found[name] = _follow(ways, ask)
        with house.opened(tmp_path_factory.mktemp("house")) as own:
            found["POST query"] = _follow(ways, lambda: own.query("alice"))
            own.services.access.set_password("alice", house.PASSWORD)
            headers, _ = own.visit("alice")
            found["GET method"] = _follow(ways, lambda: own.client.request("GET", "/methods/lm", headers=headers))
    return found


def _follow(ways: Ways, ask: Callable[[], object]) -> set[str]:
    with ways.noted() as modules:
        ask()
    return modules


@pytest.mark.parametrize("way", BARS)
def test_a_question_passes_through_few_modules(passed, way):
    assert len(passed[way]) <= BARS[way], sorted(passed[way])


def test_the_way_of_a_question_is_seen_from_its_text_to_its_noise(passed):
    for way in ("COUNT", "AVG", "POST query"):
        assert {"sql/lower.py", "mechanisms/laplace.py", "ledger/store.py"} <= passed[way]
