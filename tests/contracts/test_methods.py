"""What every method of the registry must keep; joining the registry is how one is accepted.

Each is asked by its own example, on the tables of the example hospital: as they are, without one person, and empty.
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack, suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING

import pytest
import scipy.special  # noqa: F401 - methods import it when they first need it: no method's own time
import sqlglot
from sqlglot import exp

import adomnia
from adomnia.curator.executor import drive
from adomnia.engines.check import check_statement
from adomnia.engines.registry import ENGINES, load_engine
from adomnia.engines.render import render
from adomnia.errors import Refusal
from adomnia.explaining.explanations import explain
from adomnia.messages.texts import TEMPLATES, note_of, note_record
from adomnia.methods.contract import INFERENCE
from adomnia.methods.registry import METHODS
from adomnia.methods.signatures import method_record
from adomnia.plans.columns import ValueColumn
from adomnia.plans.views import read_column
from adomnia.pricing.parts import amount, bill, split_price
from adomnia.pricing.payment import needs_delta, with_delta
from adomnia.pricing.quotes import quote_plan
from adomnia.pricing.rules import without_effort
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from adomnia.releases.arrays import Packer, Unpacker
from adomnia.releases.product_form import from_plain, to_plain
from adomnia.session.aggregates import Aggregates, SqlOptions
from adomnia.session.method_calls import write_call
from adomnia.session.table import PrivateTable
from adomnia.sql.lower import lower
from adomnia.sql.methods import frames
from kit.effort import do_within
from kit.hospital import CATALOG, curated, declare
from kit.methods import PEOPLE, VISITS, executed, hospital_catalog, moves_of, tables_of

if TYPE_CHECKING:
    from adomnia.plans.plan import Plan

COUNTED = {"count", "n", "missing", "min", "max"}  # which are about the rows that there are, whatever is asked
DIALECTS = ("duckdb", "postgres", "")
PRICES = [Pure(Fraction(1, 3)), Concentrated(Fraction(1, 7))]
SLOWEST_PRICE = 1.0  # seconds from text to quote; a benchmark has the real ones, which are below 0.1
# Questions about whole numbers, where these are measured otherwise than the numbers of the examples.
ON_WHOLE_NUMBERS = (
    "SELECT * FROM trimmed_mean(people, column => age)",
    "SELECT * FROM winsorized_mean(people, column => age, trim => 0.45)",
    "SELECT * FROM winsorized_mean((SELECT CASE WHEN member THEN 1 ELSE 0 END AS yes FROM people), column => yes)",
    "SELECT * FROM t_test(people, column => age, other => score)",
    "SELECT * FROM mann_whitney(people, column => age, group => member, bins => 12, by => sex)",
    "SELECT * FROM kruskal_wallis(people, column => age, group => city, bins => 200)",
    "SELECT * FROM signed_rank(people, column => age, mu => 40.5)",
    "SELECT * FROM signed_rank(people, column => age, other => score)",
    "SELECT * FROM spearman(people, column => age, other => salary, by => sex)",
    "SELECT * FROM kaplan_meier(people, time => age, event => member, intervals => 7)",
    "SELECT * FROM log_rank(people, time => age, event => member, group => sex, breaks => (0, 18, 65, 120))",
)
# Questions with arguments that no example has, and that change what is measured.
WITH_ARGUMENTS = (
    "SELECT * FROM poisson(people, formula => 'age ~ C(sex, Treatment(''M''))', exposure => salary + 1)",
    "SELECT * FROM poisson(people, formula => 'age ~ score', exposure => salary + 1, weight => CLAMP(score, 0, 2))",
    "SELECT * FROM logit(people, formula => 'member ~ score', weight => salary)",
    "SELECT * FROM lm(people, formula => 'salary ~ age + C(sex)', weight => salary)",
    "SELECT * FROM lm(visits, formula => 'cost ~ urgent', weight => cost, inference => 'data')",
    "SELECT * FROM summary(people, columns => (age, score), weight => salary)",
    "SELECT * FROM crosstab(people, row => sex, column => city, weight => salary)",
    "SELECT * FROM frequencies(visits, factor => hospital, weight => cost, inference => 'data')",
)
# Questions that are measured otherwise at a price than a plan without one is.
SUITED = (METHODS["logit"].example, METHODS["poisson"].example, *WITH_ARGUMENTS[:3])
VARIANTS = (*ON_WHOLE_NUMBERS, *WITH_ARGUMENTS)
NOT_OFFERED = {"spark": re.compile(r"FROM (poisson|logit)\(")}  # which need EXP

every_method = pytest.mark.parametrize("name", METHODS)
every_price = pytest.mark.parametrize("price", PRICES, ids=str)

__all__ = ["hospital_catalog"]


def text_of(name):
    return METHODS[name].example


@pytest.fixture(scope="module")
def plans(hospital_catalog):
    """Plans by the name of their method, each made once."""
    return cache(lambda name: with_delta(lower(text_of(name), hospital_catalog), Fraction(1, 10**6)))


@pytest.fixture
def plan(name, plans) -> Plan:
    return plans(name)


@every_method
@pytest.mark.parametrize("dialect", DIALECTS)
def test_its_name_parses_as_a_plain_function(name, dialect):
    tree = sqlglot.parse_one(f"SELECT * FROM {name}(people, k => 3)", read=dialect or None)
    call = tree.args["from_"].this.this
    assert isinstance(call, exp.Anonymous)
    assert call.this == name
    assert re.fullmatch("[a-z][a-z0-9_]*", name)


@every_method
def test_its_signature_is_complete_and_takes_no_name_of_an_option(name):
    method = METHODS[name]
    names = [each.name for each in method.parameters]
    assert len(set(names)) == len(names)
    assert set(names) & SqlOptions.__annotations__.keys() <= {"inference"}  # which a method is asked for itself
    assert all(each.meaning and not each.meaning.endswith(".") for each in method.parameters)
    assert all((each.kind == "choice") == bool(each.choices) for each in method.parameters)
    assert method.summary.endswith(".")
    assert method.returns or method.shows
    assert method_record(method)["schema"]["additionalProperties"] is False


RENAMED = [(method, each) for method in METHODS.values() for each in method.parameters if each.formerly]


@pytest.mark.parametrize(("method", "parameter"), RENAMED, ids=lambda each: each.name)
def test_what_an_argument_was_called_before_is_refused_with_its_name_of_now(method, parameter, hospital_catalog):
    assert not {each.formerly for each in method.parameters if each.formerly} & {
        *(each.name for each in method.parameters),
        *SqlOptions.__annotations__,
    }
    with pytest.raises(Refusal, match=f"{parameter.formerly} has another name") as refused:
        lower(f"SELECT * FROM {method.name}(people, {parameter.formerly} => (1, 2))", hospital_catalog)
    assert refused.value.code == "renamed_option"
    assert refused.value.fix == f"write {parameter.name} => (1, 2)"
    with pytest.raises(Refusal, match=f"Fix: write {parameter.name}=") as refused:
        getattr(PrivateTable, method.name)(None, **{parameter.formerly: 1})
    assert refused.value.code == "renamed_option"


@every_method
def test_python_has_it_and_hides_nothing_by_it(name):
    assert callable(getattr(PrivateTable, name))
    assert name not in vars(Aggregates)
    assert METHODS[name].summary in (getattr(PrivateTable, name).__doc__ or "")


@every_method
@every_price
def test_it_spends_its_price_and_nothing_beyond(name, plan, price):
    (statistic,) = plan.statistics
    event = statistic.event(price)
    assert sum(map(amount, event.events)) == amount(price)
    assert bill((plan, price)) == event
    rehearsed = Composed(each.mechanism.event(each.query.sensitivity()) for each in statistic.planned_measures(price))
    assert covers(event, rehearsed)


@every_method
@every_price
def test_it_is_quoted_and_explained_quickly(name, hospital_catalog, price):
    def quote_text():
        return quote_plan(with_delta(lower(text_of(name), hospital_catalog), Fraction(1, 10**6)), price)

    quote = do_within(SLOWEST_PRICE, quote_text)
    assert {line.name for line in quote.outputs} <= METHODS[name].returns.keys() | {"n"}
    assert quote.measurements


@every_method
@every_price
def test_its_explanation_lists_what_it_measures(name, plan, price):
    quote = quote_plan(plan, price)
    told = str(explain(without_effort(plan), quote))
    assert all(f"[{place}] " in told for place in range(1, len(quote.measurements) + 1))


@every_method
@every_price
def test_its_table_has_one_shape_whatever_the_data_and_says_finite_things(name, plan, price):
    shapes = set()
    for table in tables_of(plan, price):
        columns = (*table.labels, *table.estimates, *table.facts)
        held = {column: read_column(table, column) for column in columns}
        drawn = table.product is not None and not table.estimates  # rows of nobody, which differ with the noise
        shapes.add((columns, () if drawn else tuple(table.labels.items()), table.rows))
        for column, values in held.items():
            assert len(values) == table.rows, column
            assert all(not isinstance(value, float) or isfinite(value) for value in values), column
        for column, estimate in table.estimates.items():
            for confidence, cells in ((0.5, 1), (0.95, 1), (0.999, 100)):
                lower_ends, upper_ends = estimate.interval(confidence, cells)
                for value, low, high in zip(held[column], lower_ends.tolist(), upper_ends.tolist(), strict=True):
                    assert value is None or low <= value <= high, column
        assert table.notes, "what its intervals are about"
        for note in table.notes:
            assert note_of(json.loads(json.dumps(note_record(note), allow_nan=False))) == note
            assert TEMPLATES[note.code](**note.facts) == note
    assert len(shapes) == 1


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if INFERENCE in method.parameters])
def test_its_intervals_are_about_what_was_asked(name, hospital_catalog):
    text = f"{text_of(name)[:-1]}, inference => "
    for asked, found in (("data", {"data"}), ("population", {"population"})):
        plan = lower(f"{text}'{asked}')", hospital_catalog)
        for table in tables_of(plan, PRICES[0]):
            about = {table.column(column).about for column in table.estimates.keys() - COUNTED}
            assert about == found


@every_method
def test_its_columns_are_those_it_announces(name, plan):
    method = METHODS[name]
    for table in tables_of(plan, PRICES[0]):
        columns = (*table.labels, *table.estimates, *table.facts)
        grouped = len(columns) - len(method.returns)
        assert columns[grouped:] == tuple(method.returns)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.chapter == "releases"])
@every_price
def test_what_it_publishes_can_be_kept_and_opened_again(name, plan, price):
    for table in tables_of(plan, price):
        packer = Packer()
        written = json.loads(json.dumps(packer.pack(to_plain(table.product)), allow_nan=False))
        unpacker = Unpacker(*packer.columns())
        found = from_plain(unpacker.unpack(written))
        unpacker.finish()
        assert found.attributes == table.product.attributes
        assert (found.estimates is None) == (table.product.estimates is None)


@every_method
@every_price
def test_it_is_executed_within_its_event_and_replayed(name, plan, price):
    execution = executed(plan, price)
    table = execution.table
    (again,) = drive(split_price(plan, price), execution.replayer())
    for column in (*table.labels, *table.estimates, *table.facts):
        assert read_column(again, column) == read_column(table, column)


@every_method
def test_what_it_asks_later_was_proved_before_but_for_its_constants(name, plan):
    execution = executed(plan, PRICES[0])
    known = set(map(without_constants, execution.proved))
    # That a histogram's buckets are read from the same rows is proved when they are: only it lists what it looks into.
    ran = [text for text in execution.ran if not re.search(r">> \d+\) IN \(", text)]
    assert {without_constants(text) for text in ran} <= known


@pytest.mark.parametrize("text", VARIANTS)
def test_whole_numbers_and_further_arguments_are_measured_as_was_proved_before(text, hospital_catalog):
    plan = lower(text, hospital_catalog)
    execution = executed(plan, PRICES[0])
    known = set(map(without_sizes, execution.proved))
    ran = [text for text in execution.ran if not re.search(r">> \d+\) IN \(", text)]
    assert {without_sizes(text) for text in ran} <= known
    (again,) = drive(split_price(plan, PRICES[0]), execution.replayer())
    assert rows_of(again) == rows_of(execution.table)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", VARIANTS)
def test_the_second_look_finds_what_one_person_moves_with_whole_numbers_and_further_arguments(
    text, engine, hospital_catalog
):
    if engine in NOT_OFFERED and NOT_OFFERED[engine].search(text):
        pytest.skip(f"{engine} does not offer it")
    (statistic,), dialect = lower(text, hospital_catalog).statistics, load_engine(engine).dialect
    asked = [each for price in PRICES for each in (*statistic.planned_measures(price), *next(statistic.steps(price)))]
    for query in dict.fromkeys(each.query for each in asked if each.query.form == "cells"):
        statement = render((query,), dialect)
        found = check_statement(statement, hospital_catalog, dialect, query.provable, (query.columns,))
        assert found == (query.sensitivity(),)
        for moved in moves_of(query):
            assert_within(moved, query.sensitivity())


@every_price
@pytest.mark.parametrize("text", SUITED)
def test_what_suits_a_price_passes_the_second_look_and_one_person_moves_it_no_further(text, price, hospital_catalog):
    """It is what questions measure; without a price a plan is as the first versions measured it."""
    plan, dialect = lower(text, hospital_catalog), load_engine("duckdb").dialect
    (statistic,) = plan.statistics
    suited = statistic.specialize_for(price)
    assert suited != statistic
    executed(plan.with_statistics(lambda _: suited), price)  # within its event, or this is an error
    for query in dict.fromkeys(each.query for each in suited.planned_measures(price)):
        statement = render((query,), dialect)
        found = check_statement(statement, hospital_catalog, dialect, query.provable, (query.columns,))
        assert found == (query.sensitivity(),)
        for moved in moves_of(query):
            assert_within(moved, query.sensitivity())


def assert_within(moved, sensitivity):
    sizes = [abs(int(each)) for each in moved.ravel()]
    assert sum(sizes) <= sensitivity.l1
    assert sum(size**2 for size in sizes) <= sensitivity.l2_squared
    assert max(sizes) <= sensitivity.linf


def without_sizes(text):
    """The same without the type of sums, which a number of steps decides between bounds that were released."""
    return re.sub(r"ASDECIMAL\(0,0\)", "ASBIGINT", without_constants(text))


def rows_of(table):
    return {column: read_column(table, column) for column in (*table.labels, *table.estimates, *table.facts)}


def without_constants(text):
    """A statement with its numbers taken out, signs before them and brackets around those."""
    text = re.sub(r"\((-[\d.]+([eE][-+]?\d+)?)\)", r"\1", text)
    return "".join(re.sub(r"-?\b\d+(\.\d+)?([eE][-+]?\d+)?\b", "0", text).split())


@every_method
def test_one_person_moves_what_it_measures_by_at_most_its_sensitivity(name, plan):
    """Of histograms, whose values are chosen, the mechanisms are tested themselves."""
    (statistic,) = plan.statistics
    queries = dict.fromkeys(each.query for each in statistic.planned_measures(PRICES[0]) if each.query.form == "cells")
    for query in queries:
        for moved in moves_of(query):
            assert_within(moved, query.sensitivity())


@every_method
def test_it_is_asked_in_python_as_in_sql(name, hospital_catalog):
    method = METHODS[name]
    written = write_call("SELECT * FROM people", method, {})
    assert written.startswith(f"SELECT * FROM {name}((SELECT * FROM people)")


@every_method
def test_an_unknown_argument_is_refused_with_its_place(name, hospital_catalog):
    text = text_of(name)
    changed = text[: text.rindex(")")] + ", nonsense => 3)"
    with pytest.raises(adomnia.Refusal) as refused:
        lower(changed, hospital_catalog)
    assert refused.value.code == "unknown_argument"
    assert refused.value.position is not None


@every_method
def test_an_equal_question_is_an_equal_plan(name, plan, hospital_catalog):
    again = with_delta(lower(text_of(name), hospital_catalog), Fraction(1, 10**6))
    assert again == plan
    assert again.identity(PRICES[0], 1) == plan.identity(PRICES[0], 1)
    assert replace(plan, limit=1).identity(PRICES[0], 1) == plan.identity(PRICES[0], 1)


# Bounds that methods cannot compute with: far ones, one far one, and two that are nearly the same.
BEYOND_DOUBLES = [("-1e38", "1e38"), ("-1e150", "1e150"), ("-1e160", "1e160"), ("0", "1e200"), ("-1e300", "1e300")]
BEYOND_DOUBLES += [("0", "1e-250")]
READS_ALL = ("summary", "covariances", "correlations", "aim", "small_database", "marginals")
LARGEST_BOUNDS = ("-1e37", "1e37")


@pytest.fixture(scope="module")
def with_bounds(tmp_path_factory):
    """The hospital with other bounds of all its numbers, asked by an analyst."""
    with ExitStack() as opened:

        @cache
        def open_with(lower: str, upper: str):
            bounds = f'{{ type = "number", lower = {lower}, upper = {upper} }}'
            text = re.sub(r'\{ type = "(integer|number)", lower = [^}]*\}', bounds, CATALOG)
            catalog = declare(tmp_path_factory.mktemp("bounds") / "hospital", text)
            return opened.enter_context(curated(catalog, PEOPLE[:60], VISITS[:60])).session("alice")

        yield open_with


def ask_in_every_way(session, name):
    """The refusals of a method's example; anything else that is raised goes on. It is paid for last."""
    text, price = METHODS[name].example, {"epsilon": 1.0}
    refused = []
    for way in (session.price, session.explain, session.sql):
        try:
            price |= {"delta": 1e-9} if needs_delta(lower(text, session.catalog())) else {}
            way(text, **price)
        except Refusal as cause:
            refused.append(cause)
    return refused


@every_method
@pytest.mark.parametrize("bounds", BEYOND_DOUBLES, ids=" to ".join)
def test_bounds_that_are_no_use_are_refused_before_payment(name, bounds, with_bounds):
    """They raised OverflowError at the price, or failed after payment."""
    session = with_bounds(*bounds)
    before = session.budget()
    refused = ask_in_every_way(session, name)
    assert len(refused) in {0, 3}
    if refused:
        assert len({str(each) for each in refused}) == 1
        assert session.budget() == before


@every_method
def test_bounds_as_far_as_methods_take_them_are_answered(name, with_bounds):
    refused = ask_in_every_way(with_bounds(*LARGEST_BOUNDS), name)
    assert {each.code for each in refused} <= {"bad_argument", "budget"}


@pytest.mark.parametrize("name", READS_ALL)
def test_a_column_of_no_use_is_named_where_all_are_meant(name, with_bounds):
    session = with_bounds("-1e160", "1e160")
    with pytest.raises(Refusal, match=r"^age has a bound beyond 1e\+37.*CLAMP\(age, .*name other columns") as caught:
        session.price(f"SELECT * FROM {name}(people)", epsilon=1)
    assert caught.value.code == "scale_out_of_range"
    with pytest.raises(Refusal, match="formula names age by a point, which has a bound beyond"):
        session.price("SELECT * FROM lm((SELECT salary / 1e200 AS s, age FROM people), formula => 's ~ .')", epsilon=1)


def test_an_answer_about_bounds_that_are_refused_now_is_given_again_by_its_id(with_bounds, monkeypatch):
    session, text = with_bounds("-1e150", "1e150"), METHODS["histogram"].example
    with monkeypatch.context() as earlier:
        earlier.setattr(frames, "LARGEST", 10**300)
        stored = session.sql(text, epsilon=1)
    with pytest.raises(Refusal, match="has a bound beyond"):
        session.sql(f"{text} LIMIT 1000", epsilon=1)  # whose plan was not remembered
    assert session.answer(stored.receipt.request_id).records() == stored.records()


UNITS_OF_THEIR_OWN = {"association", "mcnemar", "t_test", "summary", "covariances"}  # whose rows are of several units


@every_method
def test_no_number_is_shown_whose_interval_is_all_that_is_possible(name, with_bounds):
    """Where nothing is known an interval is the same at every price."""
    session, price = with_bounds("0", "50000"), {"confidence": 0.9, "allow_uninformative": True}
    if needs_delta(lower(METHODS[name].example, session.catalog())) or name in UNITS_OF_THEIR_OWN:
        pytest.skip("private but for a delta, or of several units")
    with suppress(Refusal):  # of noise that is too large to be drawn
        one, other = (session.sql(METHODS[name].example, epsilon=each, **price) for each in (1e-6, 2.5e-6))
        check_missing(one, other)


def check_missing(one, other):
    for column in one.typed_columns:
        if not isinstance(column, ValueColumn) or column.estimate.about is None or len(one) != len(other):
            continue
        ends = [answer.interval(column.name) for answer in (one, other)]
        for value, here, there in zip(one[column.name], *ends, strict=True):
            assert value is None or here != there or here[0] == here[1]
