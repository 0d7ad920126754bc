"""No request that costs nothing takes long: the dearest texts of ten thousand characters, by the steps that they take.

Steps are counted before they are taken, so that a request that is refused has not gone far beyond the limit.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from adomnia.errors import AdomniaError, Failure, Refusal
from adomnia.work import MOST_STEPS, Abandoned, Work, allow, limit
from kit.effort import do_within

SIZE = 10_000
SLOWEST_SECONDS = 30.0  # for what takes two


def select(part, most=100, rows="people"):
    """As many parts as there is room for, each of which is another one."""
    parts, length = [], 0
    while len(parts) < most and length + len(part(len(parts))) + 2 < SIZE - len(rows) - 20:
        parts.append(part(len(parts)))
        length += len(parts[-1]) + 2
    return f"SELECT {', '.join(parts)} FROM {rows}"


def nested(around, value, times):
    for _ in range(times):
        value = around(value)
    return value


def cases(first):
    return " ".join(f"WHEN age < {first + k} THEN {k}" for k in range(20))


JOINS = " ".join(f"JOIN visits v{k} ON p.person_id = v{k}.person_id" for k in range(3))
UNION = " UNION ALL ".join(f"SELECT age + {k} AS v, salary AS w, person_id FROM people" for k in range(90))
DEAR = {
    "correlations": select(lambda k: f"CORR(age + {k}, salary)"),
    "correlations of long values": select(lambda k: f"CORR(age * {k} + salary / 3 - age * age, salary * age + {k})"),
    "correlations of many cases": select(lambda k: f"CORR(CASE {cases(k)} ELSE 1 END, salary)"),
    "correlations of a join": select(lambda k: f"CORR(p.age + {k}, v1.cost)", rows=f"people p {JOINS}"),
    "correlations of a union": select(lambda k: f"CORR(v + {k}, w)", most=60, rows=f"({UNION})"),
    "functions of functions": select(
        lambda k: f"AVG(CLAMP({nested('EXP(LN({}))'.format, f'age + {k + 1}', 5)}, 0, 9))"
    ),
    "variances": select(lambda k: f"VAR_SAMP(age + {k})"),
    "ratios": select(lambda k: f"STDDEV(age + {k}) / AVG(age + {k})"),
    "quantiles": select(lambda k: f"QUANTILE(salary, 0.{k + 1:02d})", most=98),
    "medians": select(lambda k: f"MEDIAN(salary + {k})"),
    "a long list": f"SELECT COUNT(*) FROM people WHERE age IN ({', '.join(map(str, range(1_700)))})",
    "many conditions": "SELECT COUNT(*) FROM people WHERE " + " AND ".join(f"age <> {k}" for k in range(650)),
    "many sums to choose by": "SELECT sex FROM people GROUP BY sex HAVING "
    + " AND ".join(f"SUM(age + {k}) > {k}" for k in range(400)),
    "own sums": select(
        lambda k: f"AVG(s{k})",
        most=50,
        rows=f"(SELECT person_id, {', '.join(f'SUM(cost * {k + 1}) AS s{k}' for k in range(50))} "
        "FROM visits GROUP BY person_id)",
    ),
    "many keys": f"SELECT COUNT(*) FROM people GROUP BY {', '.join(f'age < {k}' for k in range(19))}",
    "deep brackets": f"SELECT SUM({'(' * 60}age{')' * 60}) FROM people",
}
FREE = {
    "price": lambda session, text: session.price(text, epsilon=1),
    "price of rho": lambda session, text: session.price(text, rho=0.1, simultaneous=True),
    "price of high effort": lambda session, text: session.price(text, rho=0.1, effort="high"),
    "price of an error": lambda session, text: session.price(text, error=1, rows=1000),
    "explain": lambda session, text: session.explain(text),
    "explain a price": lambda session, text: session.explain(f"EXPLAIN {text}", epsilon=1),
}


def count_steps(ask):
    """How many steps a request takes, and how it ended."""

    def count():
        work = Work()
        try:
            with limit(work):
                ask()
        except Refusal as refusal:
            return work.steps, refusal.code
        return work.steps, "done"

    return do_within(SLOWEST_SECONDS, count)


@pytest.mark.soak
@pytest.mark.parametrize("free", FREE)
@pytest.mark.parametrize("dear", DEAR)
def test_nothing_free_takes_more_steps_than_are_allowed(bob, dear, free):
    assert len(DEAR[dear]) <= SIZE
    steps, ended = count_steps(lambda: FREE[free](bob, DEAR[dear]))
    assert ended in {"done", "too_much_work", "too_complex", "bad_effort", "error_too_small", "not_proved"}
    assert steps <= MOST_STEPS


@pytest.mark.parametrize(
    ("dear", "free"),
    [
        ("correlations of long values", "price"),
        ("correlations of a union", "explain"),
        ("functions of functions", "price of high effort"),
        ("quantiles", "price of an error"),
        ("a long list", "explain a price"),
    ],
)
@pytest.mark.no_cover
def test_the_dearest_texts_take_a_bounded_number_of_steps(bob, dear, free):
    test_nothing_free_takes_more_steps_than_are_allowed(bob, dear, free)


def test_the_steps_of_a_request_do_not_depend_on_what_was_asked_before(bob):
    text = "SELECT STDDEV(age) / AVG(age), MEDIAN(age + 1), CORR(age, salary) FROM people"
    counted = {count_steps(lambda: bob.price(text, epsilon=1)) for _ in range(3)}
    assert len(counted) == 1


def test_sixty_correlations_are_priced_and_a_batch_of_many_is_not(bob):
    """They were driven a dozen times each, and their statement had five thousand characters for each."""
    sixty = select(lambda k: f"CORR(age + {k}, salary)", most=60)
    steps, ended = count_steps(lambda: bob.price(sixty, epsilon=1))
    assert (ended, steps < MOST_STEPS / 3) == ("done", True)
    with limit(Work(MOST_STEPS // 8)), pytest.raises(Refusal) as refusal:
        bob.price([sixty] * 40, epsilon=1)
    assert refusal.value.code == "too_much_work"


def test_the_work_of_a_batch_is_that_of_its_questions_together(bob):
    texts = ["SELECT AVG(age) FROM people", "SELECT CORR(age, salary) FROM people"]
    alone = sum(count_steps(lambda text=text: bob.price(text, epsilon=1))[0] for text in texts)
    simultaneous, _ = count_steps(lambda: bob.price(texts, epsilon=1))
    assert simultaneous == pytest.approx(alone, rel=0.2)


@pytest.mark.parametrize(
    "ask",
    [
        lambda session, text: session.sql(text, epsilon=1),
        lambda session, text: session.batch([text], epsilon=1),
        lambda session, text: session.mock().sql(text, epsilon=1),
        lambda session, text: session.sql(f"EXPLAIN {text}"),
    ],
    ids=["sql", "batch", "mock", "explain in SQL"],
)
def test_what_is_refused_for_its_work_costs_nothing(bob, ask):
    before = bob.budget().personal.spent
    batch = ", ".join(f"CORR(age + {k} * salary / {k + 1} + age * age, salary)" for k in range(99))
    long = f"SELECT {batch}, {', '.join(f'VAR_POP(age + {k})' for k in range(1))} FROM people"
    with limit(Work(5_000)), pytest.raises(Refusal) as refusal:
        ask(bob, long)
    assert refusal.value.code == "too_much_work"
    assert bob.budget().personal.spent == before
    assert bob.answers() == []


def test_a_question_that_is_paid_for_is_answered_whatever_else_it_takes(bob, curator):
    """The engine gives the work up while the question is measured: nobody looks at that any more."""
    work, run, answer = Work(), curator.engine.inner.run, None

    def give_up(*arguments):
        work.abandon()
        return run(*arguments)

    curator.engine.inner.run = give_up
    with limit(work), suppress(Failure):  # a median reads twice, and the second statement is proved in between
        answer = bob.sql("SELECT MEDIAN(salary) AS m FROM people", epsilon=1)
    assert answer is not None
    with limit(work), pytest.raises(Abandoned):
        bob.price("SELECT COUNT(*) FROM people", epsilon=1)


def test_an_answer_is_read_again_and_listed_without_a_limit(bob):
    asked = bob.sql("SELECT COUNT(*) FROM people", epsilon=1)
    work = Work(None)
    with limit(work):
        assert bob.answer(asked.receipt.request_id).receipt == asked.receipt
        assert len(bob.answers()) == 1
    assert work.steps > 0
    with allow():
        assert len(bob.answers()) == 1


def test_what_nobody_waits_for_is_no_refusal():
    assert issubclass(Abandoned, AdomniaError)
    assert not issubclass(Abandoned, Refusal)
