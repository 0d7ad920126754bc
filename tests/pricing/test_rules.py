"""A method measures what suits the kind of its price, however that is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adomnia import Question
from adomnia.errors import Refusal
from adomnia.pricing.parts import bill, identify, split_price, split_together, weigh_outputs
from adomnia.pricing.payment import price_batch, price_question
from adomnia.pricing.quotes import list_measures, quote_plan
from adomnia.pricing.rules import FIRST, SECOND, with_effort, with_estimators, with_presence, without_effort
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import loss
from adomnia.privacy.queries import Clip
from adomnia.sql.lower import lower
from adomnia.statistics.clipped import Clipped
from adomnia.statistics.count import is_parted
from adomnia.statistics.joint import Joint
from adomnia.statistics.located import Located
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum
from kit.gate import aggregated, meaning, moved_within, proved
from kit.hospital import LINKED, curated, declare, item, visit
from kit.pricing import paid
from kit.rows import ORPHAN, PEOPLE, databases
from kit.searches import examples
from kit.tables import Database
from sql.hospital import HOSPITAL, VISITS, whole

LM = "SELECT * FROM lm(people, formula => 'salary ~ age')"


@pytest.mark.parametrize(
    ("payment", "columns"),
    [
        ({"epsilon": 1}, [4, 1, 1, 2]),  # the corners of a box, two squares, and the influences of two coefficients
        ({"rho": 0.01}, [*[1] * 6, 2]),  # one sum after the other
    ],
)
def test_sums_are_those_for_the_noise_that_is_bought(payment, columns):
    priced = price_question(Question(LM, **payment), lower(LM, HOSPITAL), HOSPITAL, 0.95)
    assert [measure.query.columns for measure in list_measures(priced.plan, priced.price)] == columns


def test_other_questions_stay_as_they_are():
    text = "SELECT COUNT(*) FROM people"
    plan = lower(text, HOSPITAL)
    assert price_question(Question(text, epsilon=1), plan, HOSPITAL, 0.95).plan == plan


def test_answers_of_the_first_version_are_found_by_what_it_measured():
    priced = price_question(Question(LM, rho=0.01), lower(LM, HOSPITAL), HOSPITAL, 0.95, SECOND)
    assert [measure.query.columns for measure in list_measures(priced.plan, priced.price)] == [1] * 6


def asked(text, **payment):
    question = Question(text, **(payment or {"epsilon": 1}))
    return price_question(question, lower(text, HOSPITAL), HOSPITAL, 0.95)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("SELECT COUNT(*), AVG(cost) FROM visits", 2),
        ("SELECT hospital, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY hospital", 2),
        ("SELECT COUNT(*), COUNT(cost) FROM visits", 1),
        ("SELECT COUNT(*), AVG(cost) FROM visits HAVING COUNT(cost) > 3 ORDER BY SUM(cost)", 2),
        ("SELECT COUNT(*), COUNT(diagnosis) FROM visits", 1),
    ],
)
def test_rows_and_values_are_one_measurement_in_one_scan(text, number):
    priced = asked(text, rho=0.1)
    measured = list_measures(priced.plan, priced.price)
    assert len(measured) == number
    assert all(is_parted(measure.query) for measure in measured)
    assert len({measure.query.keys for measure in measured}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits",
        "SELECT AVG(cost) FROM visits",
        "SELECT COUNT(*), SUM(cost) FROM visits",
        "SELECT COUNT(*), AVG(age), AVG(salary) FROM people",
        "SELECT COUNT(*), AVG(cost), COUNT(DISTINCT person_id) FROM visits",
        "SELECT COUNT(*), AVG(cost), STDDEV(cost) FROM visits",
        "SELECT COUNT(*), AVG(cost) / 2 FROM visits",
        "SELECT COUNT(*), COUNT(v.person_id) FROM people p LEFT JOIN visits v ON p.person_id = v.person_id",
        "SELECT COUNT(*), AVG(cost) FROM visits HAVING SUM(cost) / COUNT(cost) > 3",
    ],
)
def test_other_questions_have_no_joint_counts(text):
    priced = asked(text)
    assert not any(is_parted(measure.query) for measure in list_measures(priced.plan, priced.price))
    assert with_presence(priced.plan) is priced.plan


def test_weights_and_effort_and_batches_leave_both_apart():
    text = "SELECT COUNT(*) AS n, AVG(cost) AS pay FROM visits"
    weighted = asked(text, epsilon=1, weights={"n": 2})
    high = asked(text, rho=0.1, effort="high")
    batch = price_batch([Question(text)] * 2, [lower(text, HOSPITAL)] * 2, {"epsilon": 1}, HOSPITAL, 0.95)
    for priced in (weighted, high, *batch):
        assert not any(is_parted(measure.query) for measure in list_measures(priced.plan, priced.price))


def test_too_many_groups_are_not_doubled():
    plan = lower("SELECT FLOOR(cost * 6), COUNT(*), AVG(cost) FROM visits GROUP BY FLOOR(cost * 6)", HOSPITAL)
    assert with_presence(plan) is plan
    fewer = lower("SELECT FLOOR(cost), COUNT(*), AVG(cost) FROM visits GROUP BY FLOOR(cost)", HOSPITAL)
    assert with_presence(fewer) is not fewer


@pytest.mark.parametrize("price", [Pure(1), Concentrated(0.1)])
def test_what_is_saved_makes_means_better_and_rows_hardly_worse(price):
    plan = lower("SELECT COUNT(*) AS n, AVG(cost) AS pay FROM visits", HOSPITAL)
    before, after = (
        {each.name: each.error for each in quote_plan(one, price).outputs} for one in (plan, with_presence(plan))
    )
    assert after["pay"] < 0.85 * before["pay"]
    assert after["n"] < 1.2 * before["n"]


def price_jointly(text, rules=None, **payment):
    question = Question(text, **(payment or {"epsilon": 1}))
    given = () if rules is None else (rules,)
    return price_question(question, lower(text, HOSPITAL), HOSPITAL, 0.95, *given)


def entries(priced):
    """How many numbers each measurement gives."""
    return [measure.query.columns for measure in list_measures(priced.plan, priced.price)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT AVG(age) FROM people", [2]),
        ("SELECT AVG(age), SUM(age), COUNT(age) FROM people", [2]),
        ("SELECT SUM(age), COUNT(age) FROM people", [2]),
        ("SELECT COUNT(*), AVG(age) FROM people", [3]),
        ("SELECT STDDEV(age), AVG(age), COUNT(*) FROM people", [4]),
        ("SELECT COVAR_POP(age, salary) FROM people", [4]),
        ("SELECT COVAR_POP(age, salary), CORR(salary, age) FROM people", [9]),
        ("SELECT AVG(age), AVG(salary) FROM people", [2, 2]),
        ("SELECT SUM(age) FROM people", [1]),
        ("SELECT COUNT(*), SUM(age) FROM people", [1, 1]),
        ("SELECT COUNT(*), COUNT(age) FROM people", [1]),
        ("SELECT SUM(age) / COUNT(age) AS r FROM people", [2]),
    ],
)
def test_under_epsilon_what_is_about_one_value_is_one_measurement(text, expected):
    assert sorted(entries(price_jointly(text))) == sorted(expected)


@pytest.mark.parametrize("payment", [{"rho": 0.1}, {"rho": 0.1, "effort": "high"}])
def test_under_rho_nothing_is(payment):
    priced = price_jointly("SELECT AVG(age), STDDEV(age) FROM people", **payment)
    assert not any(isinstance(one, Joint) for one in priced.plan.statistics)


def test_the_mean_is_nearer_than_apart_and_so_is_all_that_stands_beside_it():
    text = "SELECT COUNT(*) AS n, COUNT(cost) AS m, SUM(cost) AS total, AVG(cost) AS mean FROM visits"
    now, before = (
        {line.name: line.error for line in quote_plan(priced.plan, priced.price).outputs}
        for priced in (price_jointly(text), price_jointly(text, FIRST))
    )
    assert {name for name in now if now[name] > 0.77 * before[name]} == set()


def test_weights_give_the_rows_a_measurement_of_their_own():
    priced = price_jointly("SELECT COUNT(*) AS n, AVG(age) AS mean FROM people", epsilon=1, weights={"n": 3})
    found = {measure.query.columns: measure.price for measure in list_measures(priced.plan, priced.price)}
    assert found == {1: Pure(Fraction(3, 4)), 2: Pure(Fraction(1, 4))}


def test_a_formula_of_sums_is_measured_the_way_that_is_better():
    people, text = "COUNT(DISTINCT person_id)", "SELECT SUM(age) / COUNT(*) AS r, COUNT(age) AS n FROM people"
    assert entries(price_jointly(text)) == [3]
    # A count that is put together has two noises. What that costs four of them, one measurement less has to bring in.
    counts = ", ".join(f"COUNT(age) * {times} AS n{times}" for times in (2, 3, 4, 5))
    assert entries(price_jointly(f"SELECT {counts}, SUM(age) / {people} AS c FROM people")) == [2, 1]
    sums = "SUM(age) + SUM(salary) + SUM(salary * 2)"
    assert entries(price_jointly(f"SELECT {counts}, ({sums}) / {people} AS c FROM people")) == [1, 1, 1, 1, 1]


def test_an_error_is_bought_for_less():
    text = "SELECT AVG(age) AS mean FROM people"
    now, before = (price_jointly(text, rules, error=1, rows=1000).price.epsilon for rules in (None, FIRST))
    assert Fraction(6, 10) < now / before < Fraction(8, 10)


def test_questions_of_a_batch_share_a_vector():
    texts = ["SELECT AVG(age) FROM people", "SELECT STDDEV(age), SUM(age) FROM people", "SELECT COUNT(*) FROM people"]
    batch = price_batch(
        list(map(Question, texts)), [lower(each, HOSPITAL) for each in texts], {"epsilon": 1}, HOSPITAL, 0.95
    )
    assert {each.price for each in batch} == {Pure(1)}
    assert len({measure for each in batch for measure in list_measures(each.plan, each.price)}) == 1


def test_many_groups_of_nine_wide_sums_are_measured_apart():
    priced = price_jointly("SELECT FLOOR(age * 10) AS k, CORR(age, salary) FROM people GROUP BY k")
    assert entries(priced) == [1] * 6
    assert entries(price_jointly("SELECT FLOOR(age * 10) AS k, COVAR_POP(age, salary) FROM people GROUP BY k")) == [4]


PRICES = [Pure(1), Concentrated(Fraction(1, 20))]
every_price = pytest.mark.parametrize("price", PRICES, ids=str)


def plan(text, weights=None):
    return weigh_outputs(lower(text, HOSPITAL), weights or {})


def centred(*plans):
    return [each.centred for one in plans for each in one.statistics if isinstance(each, Sum)]


def errors(asked, price):
    return {output.name: output.error for output in quote_plan(asked, price).outputs}


@every_price
def test_a_sum_beside_the_mean_costs_nothing_more(price):
    asked = plan("SELECT SUM(salary) AS total, AVG(salary) AS mean FROM people")
    (better,) = with_estimators([asked], price)
    assert centred(better) == [True]
    assert set(paid(better, price)) == set(paid(plan("SELECT AVG(salary) FROM people"), price))
    assert errors(better, price)["total"] < 0.65 * errors(asked, price)["total"]
    assert errors(better, price)["mean"] < errors(asked, price)["mean"]


@every_price
def test_a_sum_beside_the_count_of_its_values_is_better_put_together(price):
    asked = plan("SELECT SUM(salary) AS total, COUNT(salary) AS n FROM people")
    (better,) = with_estimators([asked], price)
    assert centred(better) == [True]
    assert errors(better, price)["total"] < 0.75 * errors(asked, price)["total"]
    assert errors(better, price)["n"] == errors(asked, price)["n"]


@every_price
@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(age) FROM people",
        "SELECT SUM(age), COUNT(*) FROM people",
        "SELECT SUM(age), AVG(salary) FROM people",
        "SELECT SUM(age), SUM(salary) FROM people",
        "SELECT SUM(age - 60), AVG(age - 60) FROM people",
    ],
)
def test_a_sum_that_shares_nothing_is_measured_itself(text, price):
    assert with_estimators([plan(text)], price) == [plan(text)]


@every_price
def test_by_itself_a_sum_is_never_better_put_together(price):
    """What the module claims, for bounds of all kinds and the even split."""
    for value in ("age", "salary", "age - 60", "age - 100", "CLAMP(age, 100, 120)"):
        asked = plan(f"SELECT SUM({value}) AS x FROM people")
        other = asked.with_statistics(lambda each: Sum(each.query, centred=True))
        # A sum whose middle is 0 would waste half of its price on a count.
        assert errors(asked, price)["x"] <= 1.001 * errors(other, price)["x"]


def test_the_way_that_makes_all_outputs_better_together_is_taken():
    worse = plan("SELECT SUM(age) + 100 * COUNT(age) AS r FROM people")
    assert centred(*with_estimators([worse], Pure(1))) == [False]  # the noise of the count would be in it 160 times
    for better in ("SUM(age) / COUNT(age) AS r", "SUM(age) / COUNT(*) AS r, COUNT(age) AS n"):
        assert centred(*with_estimators([plan(f"SELECT {better} FROM people")], Pure(1))) == [True]


def test_weights_are_looked_at():
    """Where the mean is hardly paid for, the sum is measured itself."""
    text = "SELECT SUM(age) AS total, AVG(age) AS mean FROM people"
    for weights in ({"total": 1000}, {"mean": 1000}):
        asked = plan(text, weights)
        (chosen,) = with_estimators([asked], Pure(1))
        assert centred(chosen) == [True]


def test_a_mean_of_another_question_of_the_batch_serves_as_well():
    plans = [plan("SELECT AVG(age) FROM people"), plan("SELECT SUM(age) FROM people")]
    ways = with_estimators(plans, Pure(1))
    assert centred(*ways) == [True]
    assert len(bill(*zip(ways, split_together(ways, Pure(1)), strict=True)).events) == 2


def test_a_price_whose_noise_cannot_be_drawn_changes_nothing():
    asked = plan("SELECT SUM(age) / COUNT(age) AS r FROM people")
    assert with_estimators([asked], Pure(10**6)) == [asked]


PRICE = Concentrated(Fraction(1, 10))
BY_HOSPITAL = "SELECT hospital, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a FROM visits GROUP BY hospital"
TEXTS = [
    BY_HOSPITAL,
    "SELECT SUM(cost), COUNT(cost), COUNT(diagnosis) FROM visits WHERE cost > 1",
    "SELECT hospital, AVG(cost * 2 - 5), COUNT(person_id), STDDEV(cost) FROM visits GROUP BY hospital",
    "SELECT sex, SUM(salary), AVG(score), COUNT(DISTINCT person_id) FROM people GROUP BY sex",
    "SELECT FLOOR(cost / 20000) AS band, COUNT(*) FROM visits GROUP BY FLOOR(cost / 20000)",
    (
        "SELECT p.sex, SUM(v.cost), COUNT(v.cost) FROM people p LEFT JOIN visits v ON p.person_id = v.person_id "
        "GROUP BY p.sex"
    ),
]

YEARS = ("YEAR(born)", "DATE_TRUNC('year', born)")  # one value, whose cells are shown as numbers or as days


def high(text, catalog=HOSPITAL, price=PRICE):
    return with_effort(lower(text, catalog), "high", price)


# ------------------------------------------------------------------------------------------------ plans and bills


def test_normal_effort_changes_nothing():
    plan = lower(BY_HOSPITAL, HOSPITAL)
    assert with_effort(plan, "normal", Pure(1)) is plan
    assert [type(statistic) for statistic, _ in split_price(plan, PRICE) if isinstance(statistic, Clipped)] == []


def test_with_high_effort_every_statistic_is_shortened_and_means_are_located():
    plan = high(BY_HOSPITAL)
    assert all(isinstance(statistic, Clipped) for statistic, _ in split_price(plan, PRICE))
    assert [type(each) for each in plan.statistics].count(Located) == 1
    assert without_effort(plan) == lower(BY_HOSPITAL, HOSPITAL)


def test_rows_of_blocks_are_not_shortened():
    plan = lower("SELECT AVG(z) FROM (SELECT AVG(age) AS z FROM people GROUP BY BLOCK(5))", HOSPITAL)
    with pytest.raises(Refusal, match="here rows are of blocks of people"):
        with_effort(plan, "high", Concentrated(1))


def test_a_mean_of_integers_too_large_to_shorten_is_left_as_it_is():
    wide = whole("cost", 0, 2**51)
    visits = replace(VISITS, columns=(*VISITS.columns[:-1], wide))
    (statistic,) = high(
        "SELECT AVG(cost) FROM visits", replace(HOSPITAL, tables=(HOSPITAL.tables[0], visits))
    ).statistics
    assert isinstance(statistic, Mean)


@pytest.mark.parametrize("text", TEXTS)
def test_the_bill_is_the_price(text):
    plan = high(text, catalog=HOSPITAL)
    assert loss(bill((plan, PRICE))).rho == PRICE.rho


def test_answers_of_one_effort_are_not_those_of_the_other():
    text = "SELECT COUNT(*) FROM visits"
    plain, shortened = lower(text, HOSPITAL), high(text)
    assert plain.statistics == shortened.statistics
    assert identify(plain, PRICE, 1) != identify(shortened, PRICE, 1)
    assert identify(shortened, PRICE, 1) == identify(high(text), PRICE, 1)


def test_what_both_efforts_measure_is_paid_for_each():
    text = "SELECT COUNT(*) FROM visits"
    both = bill((lower(text, HOSPITAL), PRICE), (high(text), PRICE))
    assert loss(both).rho == 2 * PRICE.rho
    assert loss(bill((high(text), PRICE), (high(text), PRICE))).rho == PRICE.rho


def test_means_of_other_cells_are_paid_for_each():
    """The mean of all cells is the same measurement for both; the distances that follow from it are not."""
    texts = [f"SELECT {key} AS y, AVG(salary) FROM people GROUP BY 1" for key in YEARS]
    assert loss(bill(*((high(text), PRICE) for text in texts))).rho == 2 * PRICE.rho
    assert loss(bill((high(texts[0]), PRICE), (high(texts[0]), PRICE))).rho == PRICE.rho


def test_means_around_centres_of_other_counts_are_paid_for_each():
    """Where the mean of all lies follows from the count too, which is measured at another price here."""
    alone = high("SELECT AVG(cost) FROM visits")
    weighed = weigh_outputs(lower("SELECT COUNT(cost) AS n, AVG(cost) AS a FROM visits", HOSPITAL), {"n": 3, "a": 1})
    weighed = with_effort(weighed, "high", PRICE)
    price, more = Concentrated(Fraction(2, 100)), Concentrated(Fraction(7, 100))  # a hundredth for both distances
    assert loss(bill((alone, price), (weighed, more))).rho == price.rho + more.rho


def test_one_price_for_means_around_other_centres_is_kept():
    weights = {"a": 1, "n": Fraction(3, 4), "r": Fraction(1, 4)}
    text = "SELECT AVG(cost) AS a, COUNT(cost) AS n, COUNT(*) AS r FROM visits"
    plans = [
        high("SELECT AVG(cost) FROM visits"),
        with_effort(weigh_outputs(lower(text, HOSPITAL), weights), "high", PRICE),
    ]
    paid = bill(*zip(plans, split_together(plans, PRICE), strict=True))
    assert len(paid.events) == 5
    assert loss(paid).rho == PRICE.rho


def test_weights_reach_the_distances_and_the_count():
    plan = weigh_outputs(lower("SELECT COUNT(cost) AS n, AVG(cost) AS a FROM visits", HOSPITAL), {"n": 3, "a": 1})
    plan = with_effort(plan, "high", PRICE)
    (located,) = (one.inner for one, _ in split_price(plan, PRICE) if isinstance(one.inner, Located))
    assert located.share == Fraction(1, 7)  # the count is wanted 3, the distances half of 1
    assert loss(bill((plan, PRICE))).rho == PRICE.rho


@pytest.mark.parametrize(
    ("effort", "price", "why"),
    [("high", Pure(1), "pay with rho="), ("low", PRICE, 'write effort="high"'), ("", PRICE, "is not known")],
)
def test_an_effort_that_cannot_be_made_is_refused(effort, price, why):
    with pytest.raises(Refusal) as refused:
        with_effort(lower(BY_HOSPITAL, HOSPITAL), effort, price)
    assert why in str(refused.value)
    assert refused.value.code == "bad_effort"


# ------------------------------------------------------------------------------------------------ sessions


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("effort") / "hospital")


@pytest.fixture
def curator(catalog):
    some = [
        visit(person, hospital=f"H{1 + (person + k) % 5}", cost=100.0 + k)
        for person in range(300)
        for k in range(1 + person % 3)
    ]
    with curated(catalog, [], some) as curator:
        yield curator


@pytest.mark.parametrize("text", TEXTS)
def test_questions_are_answered_and_replayed(curator, text):
    session = curator.session("bob")
    before = curator.ledger.spent("bob").rho_units
    first = session.sql(text, rho=PRICE.rho, effort="high")
    paid = curator.ledger.spent("bob").rho_units - before
    again = session.sql(text, rho=PRICE.rho, effort="high")
    assert again.replayed
    assert first.records() == again.records()
    assert curator.ledger.spent("bob").rho_units == before + paid
    assert not session.sql(text, rho=PRICE.rho).replayed


def test_the_answer_says_what_was_shortened(curator):
    answer = curator.session("bob").sql(BY_HOSPITAL, rho=1, effort="high")
    methods = [column.estimate.method for column in answer.typed_columns[1:]]
    assert all("shortened to" in method and "left out" in method for method in methods)
    assert methods[2].startswith("noisy sum of distances from about the mean / noisy count")


def test_high_effort_is_nearer_to_the_truth(curator):
    """cost is around 100 of at most 100,000: the noise of a sum is that of 100,000 unless sums are shortened."""
    truth = [0.0] * 5
    for person in range(300):
        for k in range(1 + person % 3):
            truth[(person + k) % 5] += 100 + k
    session = curator.session("bob")
    errors = {
        effort: sum(
            abs(found - true)
            for _ in range(3)
            for found, true in zip(
                session.sql(
                    "SELECT hospital, SUM(cost) AS s FROM visits GROUP BY hospital", rho=1, effort=effort, replay=False
                )["s"],
                truth,
                strict=True,
            )
        )
        for effort in ("normal", "high")
    }
    assert errors["high"] < errors["normal"] / 50


def test_the_price_says_that_less_is_to_be_expected(curator):
    session = curator.session("bob")
    normal, shortened = (session.price(BY_HOSPITAL, rho=1, effort=effort) for effort in ("normal", "high"))
    assert (normal.effort, shortened.effort) == ("normal", "high")
    assert [line.name for line in shortened.outputs] == [line.name for line in normal.outputs]
    assert loss(shortened.event) == loss(normal.event)


@pytest.mark.parametrize("payment", [{"epsilon": 1}, {"error": 50}])
def test_epsilon_does_not_buy_high_effort(curator, payment):
    before = curator.ledger.spent("bob")
    with pytest.raises(Refusal) as refused:
        curator.session("bob").sql("SELECT COUNT(*) FROM visits", **payment, effort="high")
    assert refused.value.code == "bad_effort"
    assert curator.ledger.spent("bob") == before


def test_a_batch_has_one_effort_or_one_each(curator):
    session = curator.session("bob")
    texts = ["SELECT COUNT(*) FROM visits", BY_HOSPITAL]
    simultaneous = session.batch(texts, rho=1, effort="high")
    each = session.batch([Question(texts[0], rho=1, effort="high"), Question(texts[0], rho=1)])
    assert ["shortened" in answer.typed_columns[-1].estimate.method for answer in (*simultaneous, *each)] == [
        True,
        True,
        True,
        False,
    ]


def test_a_batch_of_means_of_other_cells_is_answered(tmp_path):
    bought = [item(k, price=float(k % 90), bought=date(2020, 1 + k % 12, 1)) for k in range(60)]
    texts = [
        f"SELECT {key} AS y, AVG(price) FROM items GROUP BY 1" for key in ("YEAR(bought)", "DATE_TRUNC('year', bought)")
    ]
    with curated(
        declare(tmp_path / "linked", LINKED), [], [visit(k, visit_id=k) for k in range(60)], bought
    ) as curator:
        answers = curator.session("bob").batch(texts, rho=1, effort="high")
    assert [answer.typed_columns[0].values for answer in answers] == [(2020,), (date(2020, 1, 1),)]


def test_a_batch_of_means_around_other_centres_is_answered(curator):
    weighed = "SELECT AVG(cost) AS a, COUNT(cost) AS n FROM visits"
    session = curator.session("bob")
    for place in range(1, 5):  # where both centres happen to be the same, less is measured
        rho = Fraction(place, 50)
        asked = Question(weighed, rho=rho * Fraction(7, 2), weights={"a": 1, "n": 3}, effort="high")
        assert session.batch([Question("SELECT AVG(cost) FROM visits", rho=rho, effort="high"), asked])


# ------------------------------------------------------------------------------------------------ the gate


def lengths(measure):
    """The query that will be asked, at a few of the lengths that it can have."""
    query = measure.query
    if query.clip is None:
        return [query]
    bounds = {1, 2, 7, 1000, query.clip.bound}
    return [replace(query, clip=Clip(bound, query.clip.counted)) for bound in bounds if bound <= query.clip.bound]


def gate(catalog, files, who, texts):
    """One person moves the lengths and the shortened vectors by so far at most, and they are what they should be."""
    database = Database(catalog, dict(zip(("people", "visits"), files, strict=True)))
    smaller = database.without((0, who))
    with curated(catalog, **database.files) as one, curated(catalog, **smaller.files) as other:
        for text in texts:
            wanted = list_measures(high(text, catalog), PRICE)
            queries = tuple(dict.fromkeys(query for measure in wanted for query in lengths(measure)))
            statements = proved(one, queries)
            here, there = aggregated(one, statements), aggregated(other, statements)
            assert here == {query: meaning(query, database) for query in queries}
            for query in queries:
                moved_within(query, here[query], there[query])


@settings(max_examples=examples(8), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    database=databases,
    who=st.sampled_from([*PEOPLE, ORPHAN, None]),
    texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2, unique=True),
)
def test_one_person_moves_what_high_effort_measures_by_at_most_its_sensitivity(catalog, database, who, texts):
    gate(catalog, database, who, texts)


def test_many_rows_of_one_person_in_many_groups(catalog):
    some = [visit(1, hospital=f"H{k % 5 + 1}", cost=1e5 * (k % 2), urgent=k % 2 == 0) for k in range(40)]
    gate(catalog, ([], some), 1, TEXTS)


def test_what_is_rehearsed_is_proved_for_every_question(catalog):
    with curated(catalog, [], []) as curator:
        for text, price in product(TEXTS, (Concentrated(Fraction(1, 1000)), Concentrated(5))):
            proved(
                curator, tuple(dict.fromkeys(each.query for each in list_measures(high(text, catalog, price), price)))
            )


def test_means_are_means_again_where_effort_is_normal():
    assert any(isinstance(each, Mean) for each in without_effort(high(BY_HOSPITAL)).statistics)


TERMS = [
    "COUNT(*)",
    "COUNT(cost)",
    "SUM(cost)",
    "AVG(cost)",
    "VAR_POP(cost)",
    "STDDEV(cost)",
    "SUM(cost - 50000)",
    "AVG(cost - 50000)",
    "VAR_SAMP(cost - 50000)",
    "CORR(cost, cost - 50000)",
    "COUNT(DISTINCT person_id)",
    "COUNT(DISTINCT diagnosis)",
    "SUM(CASE WHEN urgent THEN 1 ELSE 0 END)",
    "AVG(cost) / COUNT(*)",
]


@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    terms=st.lists(st.sampled_from(TERMS), min_size=2, max_size=6, unique=True),
    grouped=st.booleans(),
    weights=st.lists(st.integers(1, 3), min_size=6, max_size=6),
)
def test_whatever_is_asked_together_stays_within_what_was_paid(catalog, terms, grouped, weights):
    """The executor measures nothing beyond the reserve: a statistic that went on differently would fail here."""
    outputs = [f"{term} AS c{place}" for place, term in enumerate(terms)]
    text = f"SELECT {', '.join(outputs)} FROM visits{' GROUP BY hospital' if grouped else ''}"
    given_weights = {f"c{place}": weights[place] for place in range(len(terms))}
    with curated(catalog, [], [visit(k, hospital="H1", cost=float(k), diagnosis="x") for k in range(20)]) as curator:
        session = curator.session("bob")
        assert session.sql(text, rho=1, effort="high").columns
        assert session.sql(text, rho=1, effort="high", weights=given_weights).columns
        assert session.batch([text, "SELECT COUNT(cost), AVG(cost) FROM visits"], rho=1, effort="high")
