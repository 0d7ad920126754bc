"""Random questions of the whole language, on a database and on the same without one person.

The engine must give what a slow evaluator in Python gives, the two derivations of the sensitivity must agree, one
person must not move anything further, and nothing may fail. What is refused is refused from the text alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import FUNCTIONS, Call
from adomnia.sql.lower import lower
from kit.gate import aggregated, meaning, moved_within, proved, public_side
from kit.grammar import questions
from kit.hospital import LINKED, PUBLIC, curated, declare, item, person, visit
from kit.rows import ORPHAN, PEOPLE, linked_databases
from kit.spellings import SPELLINGS
from kit.tables import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.privacy.expressions import Expression
    from adomnia.session.curator import Curator

pytestmark = pytest.mark.no_cover  # other tests have one example of each branch

QUESTIONS = 40  # to each database
LEAST_ACCEPTED = 0.8


def answered(text: str, curators: tuple[Curator, Curator], databases: tuple[Database, Database]) -> bool:
    """Whether a question is answered; if so, it must be right, proved, and near on both databases."""
    one, other = curators
    try:
        queries = tuple(dict.fromkeys(each.query for each in list_measures(lower(text, one.catalog), Pure(1))))
        statements = proved(one, queries)
    except Refusal:
        assert refused(one, text) == refused(other, text)
        return False
    here, there = aggregated(one, statements), aggregated(other, statements)
    assert here == {query: meaning(query, databases[0]) for query in queries}
    assert there == {query: meaning(query, databases[1]) for query in queries}
    for query in queries:
        moved_within(query, here[query], there[query])
    return True


def named(text: str, curators: tuple[Curator, Curator], databases: tuple[Database, Database]) -> bool:
    """The same, and whatever goes wrong names the question: one of many, which nobody should have to look for."""
    try:
        return answered(text, curators, databases)
    except BaseException as error:
        error.add_note(f"The question is: {text}")
        raise


def refused(curator: Curator, text: str) -> tuple[str, str | None]:
    """How a question is refused, for nothing and without a look at the data."""
    before = curator.ledger.spent("bob"), len(curator.engine.ran)
    with pytest.raises(Refusal) as refusal:
        curator.session("bob").sql(text, epsilon=1)
    assert (curator.ledger.spent("bob"), len(curator.engine.ran)) == before
    return str(refusal.value), refusal.value.code


def gate(catalog: Catalog, files: dict[str, Any], who: tuple[int, int], asked: list[str]) -> list[bool]:
    """Which of the questions are answered, all of them checked."""
    database = Database(catalog, files | PUBLIC)
    smaller = database.without(who)
    private = [{name: each.files[name] for name in files} for each in (database, smaller)]
    with curated(catalog, **private[0]) as one, curated(catalog, **private[1]) as other:
        outcomes = [named(text, (one, other), (database, smaller)) for text in asked]
        if outcomes[0]:  # what an onlooker sees of it takes the longest to find out
            assert public_side(one, asked[0], {"epsilon": 1}) == public_side(other, asked[0], {"epsilon": 1})
        return outcomes


def asked_often(
    catalog: Catalog, examples: int, at_once: int = QUESTIONS, least_accepted: float = LEAST_ACCEPTED
) -> None:
    """Ask so many databases; most questions must be answered, or nothing is proved."""
    outcomes: list[bool] = []

    # Nothing is made smaller: the question that fails is named, and the many that do not would take hours to remove.
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(
        files=linked_databases,
        who=st.sampled_from([*((0, who) for who in (*PEOPLE, ORPHAN)), (1, 77)]),
        asked=st.lists(questions(), min_size=at_once, max_size=at_once, unique=True),
    )
    def ask(files, who, asked):
        outcomes.extend(gate(catalog, files, who, asked))

    ask()
    assert len(outcomes) >= examples * at_once
    assert sum(outcomes) >= least_accepted * len(outcomes)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("grammar") / "hospital", LINKED)


def test_more_than_a_hundred_questions_mean_what_they_say_and_no_person_moves_them_further(catalog):
    asked_often(catalog, 3)


@pytest.mark.soak
def test_twenty_thousand_questions_mean_what_they_say(catalog):
    asked_often(catalog, 500)


def functions(expression: Expression) -> Iterator[str]:
    """The names of all functions in an expression."""
    if isinstance(expression, Call):
        yield expression.function
        for argument in expression.arguments:
            yield from functions(argument)


_COLUMNS = {  # two of each kind, because of two that are the same some functions leave one
    "n": ("p.weight", "p.salary"),
    "w": ("p.age", "LENGTH(p.name)"),
    "N": ("p.salary", "p.score"),
    "t": ("p.name", "v.diagnosis"),
    "b": ("p.member", "v.urgent"),
    "d": ("v.day", "DATE '2020-01-01'"),
    "m": ("CAST(v.day AS TIMESTAMP)", "TIMESTAMP '2020-01-01 05:00:00'"),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_grammar_writes_every_function(catalog, function):
    found: set[str] = set()
    for spelling in SPELLINGS[function]:
        written = spelling.template.format(*(_COLUMNS[kind][place % 2] for place, kind in enumerate(spelling.takes)))
        plan = lower(f"SELECT COUNT({written}) FROM people p JOIN visits v ON p.person_id = v.person_id", catalog)
        found.update(functions(plan.statistics[0].query.aggregate.value))
    assert function in found


def test_the_gate_notices_a_row_that_the_engine_did_not_count(catalog):
    files = {"people": [person(1, age=30.0)], "visits": [visit(1, visit_id=1, cost=2.0)], "items": [item(1, price=3.0)]}
    database = Database(catalog, files | PUBLIC)
    more = Database(catalog, {**database.files, "items": [*files["items"], item(1, price=4.0)]})
    text = "SELECT SUM(i.price) FROM items i JOIN visits v ON i.visit_id = v.visit_id"
    with curated(catalog, **files) as one, curated(catalog, [], []) as other:
        assert named(text, (one, other), (database, database.without((0, 1))))
        with pytest.raises(AssertionError) as missed:
            named(text, (one, other), (more, database.without((0, 1))))
    assert text in missed.value.__notes__[0]
