"""Answers that would say almost nothing are refused before they are paid, by what is public alone."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import adomnia
from adomnia.errors import Refusal
from adomnia.pricing import vacuity
from adomnia.pricing.questions import Question
from adomnia.session.curator import Curator, open_ledger
from adomnia.work import Work, limit

PEOPLE, GROUPS = 400, 4
TABLE = pa.table(
    {
        "who": range(PEOPLE),
        "x": [float(person % 101) for person in range(PEOPLE)],
        "sort": [f"s{person % GROUPS}" for person in range(PEOPLE)],
    }
)
COUNT = "SELECT COUNT(*) AS n FROM data"


def opened(table=TABLE, **options):
    """With a profile that has no noise, but for a chance below 1e-20, unless another cap is given."""
    declared = {"rows_per_person": {"max": 2, "epsilon": 50}, "bounds": {"x": (0, 100)}} | options
    sorts = {"sort": [f"s{place}" for place in range(GROUPS)]}
    return adomnia.protect(table, unit="who", epsilon=1000, categories=sorts, **declared)


@pytest.fixture
def session():
    return opened()


@pytest.mark.parametrize(
    ("asked", "little", "enough"),
    [
        ("COUNT(*)", 0.01, 0.02),  # an error of 300 and of 150, where there are 400 rows
        ("SUM(x)", 0.01, 0.05),
        ("AVG(x)", 0.01, 0.5),
        ("MEDIAN(x)", 0.01, 2),
    ],
)
def test_what_would_say_almost_nothing_is_refused_and_costs_nothing(session, asked, little, enough):
    text = f"SELECT {asked} AS n FROM data"
    with pytest.raises(
        Refusal, match=r"^n would say almost nothing: off by up to .* Fix: pay epsilon=.*allow_uninformative=True"
    ) as no:
        session.sql(text, epsilon=little)
    assert no.value.code == "vacuous"
    assert session.budget().personal.spent.epsilon_units == 0
    assert session.sql(text, epsilon=enough).notes == ()


def test_the_price_that_is_named_is_useful(session):
    quote = session.price(COUNT, epsilon=0.001)
    (says,) = quote.vacuous
    useful = float(says.split("pay epsilon=")[1].rstrip("."))
    assert 0.007 < useful <= 0.032
    assert session.price(COUNT, epsilon=useful).vacuous == ()
    assert says in " ".join(str(session.explain(COUNT, epsilon=0.001)).split())


def test_the_price_that_is_named_is_useful_for_all_outputs(session):
    text = "SELECT COUNT(*) AS n, AVG(x) AS m, MEDIAN(x) AS d FROM data"
    (says,) = session.price(text, epsilon=0.01).vacuous
    assert says.startswith("n would say almost nothing")
    assert session.price(text, epsilon=float(says.split("pay epsilon=")[1].rstrip("."))).vacuous == ()


def test_a_price_for_a_whole_batch_is_named_as_one(session):
    batch = ["SELECT COUNT(*) AS n FROM data", "SELECT COUNT(x) AS m FROM data WHERE x < 200"]
    says = session.price(batch, epsilon=0.01).vacuous
    useful = {float(each.split("pay epsilon=")[1].rstrip(".")) for each in says}
    assert len(says) == len(batch)
    assert session.price(batch, epsilon=max(useful)).vacuous == ()
    assert max(useful) <= 0.08  # an error of 75 each, where 200 would do


def test_groups_are_judged_by_their_average_and_coarser_ones_are_named(session):
    text = "SELECT sort, COUNT(*) AS n FROM data GROUP BY sort"
    with pytest.raises(Refusal, match=r"0 to 100 \(100 rows a group, on average .* coarser groups, of about 200 rows"):
        session.sql(text, epsilon=0.05)
    assert len(session.sql(text, epsilon=0.1)) == GROUPS


def test_it_is_sold_to_whoever_wants_it_anyway_and_then_replayed(session):
    answer = session.sql(COUNT, epsilon=0.001, allow_uninformative=True)
    assert answer.notes[0].startswith("n says almost nothing")
    again = session.sql(COUNT, epsilon=0.001)
    assert (again.replayed, again["n"], again.notes) == (True, answer["n"], answer.notes)
    with pytest.raises(Refusal, match="almost nothing"):  # new noise would be paid for
        session.sql(COUNT, epsilon=0.001, replay=False)


def test_one_such_question_refuses_a_batch(session):
    batch = [Question("SELECT COUNT(*) AS a FROM data", epsilon=1), Question(COUNT, epsilon=0.001)]
    with pytest.raises(Refusal, match=r"^n would say almost nothing"):
        session.batch(batch)
    first, second = session.batch(batch, allow_uninformative=True)
    assert (first.notes, len(second.notes)) == ((), 1)
    assert [each.replayed for each in session.batch(batch)] == [True, True]
    assert len(session.price(batch).vacuous) == 1


def test_rows_that_are_given_decide(session):
    text = "SELECT COUNT(*) AS n FROM data WHERE x > 3"
    with pytest.raises(Refusal, match=r"0 to 10 \(10 rows, as was given\)"):
        session.sql(text, epsilon=0.1, rows=10)
    assert session.sql(text, epsilon=0.1, rows=1000).notes == ()


def test_where_nothing_is_known_it_is_only_said():
    assert opened(rows_per_person=1).sql(COUNT, epsilon=0.01).notes == ()  # an error of 300, if there are 1,000 rows
    (says,) = opened(rows_per_person=1).sql(COUNT, epsilon=0.001).notes
    assert "(1,000 rows, if there are so many)" in says
    assert says.endswith("or say with rows= how many rows there are.")
    before = says.replace("says", "would say", 1)
    assert opened(rows_per_person=1).price(COUNT, epsilon=0.001).vacuous == (before,)


def test_an_earlier_count_of_the_same_analyst_tells_the_rows():
    session = opened(rows_per_person=1)
    counted = session.sql(COUNT, epsilon=1, request_id="before")
    (_, most), *_ = counted.interval("n")
    with pytest.raises(Refusal, match=rf"0 to {most:.0f} \({most:.0f} rows, by your answer before\)"):
        session.sql("SELECT COUNT(*) AS n FROM data WHERE x > 3", epsilon=0.01)
    by_sort = "SELECT sort, COUNT(*) AS n FROM data GROUP BY sort"
    with pytest.raises(Refusal, match=r"rows a group, on average by your answer before"):
        session.sql(by_sort, epsilon=0.05)
    session.sql(by_sort, epsilon=1, request_id="groups")
    with pytest.raises(Refusal, match=r"by your answer groups"):
        session.sql(by_sort, epsilon=0.05)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(x) AS n FROM data",
        "SELECT COUNT(*) AS n FROM data WHERE x > 90",
        "SELECT sort, COUNT(*) AS n FROM data GROUP BY sort LIMIT 1",
        "SELECT sort, COUNT(*) AS n FROM data GROUP BY sort HAVING COUNT(*) > 1",
        "SELECT AVG(x) AS discounted FROM data",
    ],
)
def test_answers_about_other_rows_tell_nothing(text):
    session = opened(rows_per_person=1)
    session.sql(text, epsilon=10)
    assert session.price("SELECT COUNT(*) AS n FROM data WHERE x > 3", epsilon=0.01).vacuous == ()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT n FROM (SELECT sort, COUNT(*) AS n FROM data GROUP BY sort LIMIT 1)",
        "SELECT n FROM (SELECT n FROM (SELECT sort, COUNT(*) AS n FROM data GROUP BY sort) WHERE n > 999) WHERE n > 1",
        "SELECT n FROM (SELECT * FROM (SELECT sort, COUNT(*) AS n FROM data GROUP BY sort) WHERE n > 999)",
        "SELECT sort, COUNT(*) AS n FROM data GROUP BY sort OFFSET 3",
        "SELECT COUNT(*) AS n FROM data OFFSET 1",
    ],
)
def test_answers_that_leave_groups_out_tell_nothing(text):
    session = opened(rows_per_person=1)
    session.sql(text, epsilon=10)
    assert session.price("SELECT sort, COUNT(*) AS n FROM data GROUP BY sort", epsilon=0.05).vacuous == ()


def test_an_earlier_count_tells_as_much_at_whatever_confidence_it_was_asked():
    session = opened(rows_per_person=1)
    counted = session.sql(COUNT, epsilon=0.05, confidence=0.001, allow_uninformative=True)
    (_, most), *_ = counted.interval("n", 0.95)
    (says,) = session.price(COUNT, epsilon=0.001).vacuous
    assert f"({most:,.0f} rows, by your answer" in says


def test_what_somebody_else_was_told_is_not_known():
    """Otherwise a refusal would tell what another analyst has paid for."""
    session = opened(rows_per_person=1)
    curator = session._curator
    other = replace(curator.catalog.analysts[0], name="bob")
    catalog = replace(curator.catalog, analysts=(*curator.catalog.analysts, other))
    shared = Curator.open(catalog, curator.engine, open_ledger(catalog, ":memory:"), curator.dataset.kernel.bits)
    shared.session("you").sql(COUNT, epsilon=1)
    assert shared.session("you").price(COUNT, epsilon=0.01).vacuous
    assert shared.session("bob").price(COUNT, epsilon=0.01).vacuous == ()
    assert len(shared.session("bob").sql(COUNT, epsilon=0.01)) == 1


def test_a_refusal_is_the_same_for_other_rows():
    """What is refused follows from what was released: with no profile, no table changes it."""
    told = []
    for table in (TABLE, TABLE.slice(0, 1), TABLE.slice(0, 0)):
        session = opened(table, rows_per_person=1)
        told.append(session.price(COUNT, epsilon=0.001).vacuous)
        with pytest.raises(Refusal, match="almost nothing") as refused:
            session.sql(COUNT, epsilon=0.001, rows=50)
        told.append(str(refused.value))
    assert told == told[:2] * 3


def test_the_owner_may_have_it_only_said(session):
    curator = session._curator
    catalog = replace(curator.catalog, vacuous_answers="warn")
    lenient = Curator.open(
        catalog, curator.engine, open_ledger(catalog, ":memory:"), curator.dataset.kernel.bits
    ).session("you")
    assert lenient.sql(COUNT, epsilon=0.001).notes[0].startswith("n says almost nothing")


def test_made_up_rows_are_never_refused(session):
    assert len(session.mock().sql(COUNT, epsilon=0.001)) == 1


def test_what_is_not_judged_is_sold(session):
    assert session.sql("SELECT VAR_POP(x) AS v, AVG(x) - 50 AS d FROM data", epsilon=0.0001).notes == ()
    assert session.sql("SELECT MEDIAN(x) AS m FROM data", epsilon=0.0001, interval=False).notes == ()


def test_a_price_that_a_policy_sets_is_judged_too(session):
    curator = session._curator
    policy = replace(curator.catalog.analysts[0].policy, name="equal_split", questions=100_000)
    catalog = replace(curator.catalog, analysts=(replace(curator.catalog.analysts[0], policy=policy),))
    ruled = Curator.open(
        catalog, curator.engine, open_ledger(catalog, ":memory:"), curator.dataset.kernel.bits
    ).session("you")
    with pytest.raises(Refusal, match=r"^n would say almost nothing"):
        ruled.sql(COUNT)
    answer = ruled.sql(COUNT, allow_uninformative=True)
    assert answer.notes[0].startswith("n says almost nothing")
    assert ruled.sql(COUNT).replayed


@pytest.mark.parametrize(
    ("asked", "payment"),
    [
        ("COUNT(*)", {"epsilon": 0.01}),
        ("COUNT(*)", {"epsilon": 0.02, "rows": 100}),
        ("COUNT(*)", {"epsilon": 0.02, "confidence": 0.999}),
        ("AVG(x)", {"epsilon": 0.02}),
        ("MEDIAN(x)", {"epsilon": 0.02}),
        ("COUNT(*), SUM(x)", {"epsilon": 0.02}),
    ],
)
def test_what_says_something_is_judged_anew_where_anything_but_its_rows_differs(session, asked, payment):
    for place in range(2):  # the second time it is remembered
        assert session.price(f"SELECT COUNT(*) AS n FROM data WHERE x > {place}", epsilon=0.02, rows=400).vacuous == ()
    assert len(session.price(f"SELECT {asked} FROM data WHERE x > 5", **({"rows": 400} | payment)).vacuous) == 1


@pytest.mark.parametrize("asked", ["COUNT(*)", "SUM(x)", "AVG(x)", "MEDIAN(x)", "COUNT(*) AS a, COUNT(*)"])
def test_what_is_remembered_counts_as_many_steps(session, asked, monkeypatch):
    monkeypatch.setattr(vacuity, "_INFORMATIVE", set())
    steps = []
    for place in (11, 12, 13):
        work = Work()
        with limit(work):
            assert session.price(f"SELECT {asked} AS n FROM data WHERE x > {place}", epsilon=20).vacuous == ()
        steps.append(work.steps)
    assert len(set(steps)) == 1
