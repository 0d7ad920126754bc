"""Rows in Python: every chain of steps has the plan of the SQL that says the same, and costs the same."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.catalog.model import View
from adomnia.errors import Refusal
from adomnia.privacy.events import Pure
from adomnia.session.table import PrivateTable, open_table
from adomnia.sql.lower import lower
from kit.hospital import LINKED, curated, declare, item, person, visit

PEOPLE = [person(k, age=20.0 + k, sex="FM"[k % 2], city="Oslo", salary=1000.0 * k) for k in range(6)]
VISITS = [visit(k % 6, visit_id=k, hospital="H1", cost=100.0 * k) for k in range(12)]
ITEMS = [item(k % 12, item_id=k, kind="drug", price=10.0) for k in range(24)]
ADULTS = View("adults", "SELECT * FROM people WHERE age >= 18")


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    return replace(declare(tmp_path_factory.mktemp("linked") / "hospital", LINKED), views=(ADULTS,))


@pytest.fixture
def session(linked, request):
    with curated(linked, PEOPLE, VISITS, ITEMS, seed=request.node.name) as curator:
        yield curator.session("alice")


class Listener:
    """A session that answers with what it was asked."""

    def __init__(self, catalog):
        self._catalog = catalog

    def catalog(self):
        return self._catalog

    def sql(self, text, **payment):
        return text, payment


@pytest.fixture(scope="module")
def tables(linked):
    """Tables by their names; what is asked of them is the text itself."""
    return lambda name: open_table(Listener(linked), name)


def identity(text, catalog):
    return lower(text, catalog).identity(Pure(1), 1)


CHAINS = {
    "several aggregates": (
        lambda t: t("people").agg(n="count", pay=("mean", "salary"), p=("quantile", "age", 0.9), by="sex"),
        "SELECT sex, COUNT(*), AVG(salary), QUANTILE(age, 0.9) FROM people GROUP BY sex",
    ),
    "aggregates that are called like options": (
        lambda t: t("people").group_by("sex").agg({"rows": "count", "delta": ("max", "age")}, by=["city"]),
        "SELECT sex, city, COUNT(*), MAX(age) FROM people GROUP BY sex, city",
    ),
    "groups": (
        lambda t: t("visits").group_by("hospital", "urgent").sum("cost"),
        "SELECT hospital, urgent, SUM(cost) FROM visits GROUP BY hospital, urgent",
    ),
    "those that have a value": (lambda t: t("visits").agg(n=("count", "cost")), "SELECT COUNT(cost) FROM visits"),
    "a deviation": (lambda t: t("people").std("age"), "SELECT STDDEV(age) FROM people"),
    "a variance": (lambda t: t("people").var("age", by="sex"), "SELECT sex, VARIANCE(age) FROM people GROUP BY 1"),
    "a correlation": (lambda t: t("people").corr("age", "salary"), "SELECT CORR(age, salary) FROM people"),
    "people": (lambda t: t("visits").count_distinct("person_id"), "SELECT COUNT(DISTINCT person_id) FROM visits"),
    "different values": (
        lambda t: t("visits").count_distinct("hospital"),
        "SELECT COUNT(DISTINCT hospital) FROM visits",
    ),
    "a parameter": (
        lambda t: t("people").where("name = :name", {"name": "O'Hara) -- b"}).count(),
        "SELECT COUNT(*) FROM people WHERE name = 'O''Hara) -- b'",
    ),
    "a table": (lambda t: t("visits").count(), "SELECT COUNT(*) FROM visits"),
    "a view": (lambda t: t("adults").mean("salary"), "SELECT AVG(salary) FROM people WHERE age >= 18"),
    "a name in capitals": (lambda t: t("PEOPLE").count(), "SELECT COUNT(*) FROM people"),
    "a sum by a key": (
        lambda t: t("visits").sum("cost", by="hospital"),
        "SELECT hospital, SUM(cost) FROM visits GROUP BY hospital",
    ),
    "two keys": (
        lambda t: t("people").count(by=["sex", "city"]),
        "SELECT COUNT(*) FROM people GROUP BY city, sex",
    ),
    "two conditions": (
        lambda t: t("visits").where("cost > 5").where("urgent").count(),
        "SELECT COUNT(*) FROM visits WHERE urgent AND cost > 5",
    ),
    "conditions stay apart": (
        lambda t: t("people").where("age > 5 OR member").where("sex = 'F' OR sex = 'X'").count(),
        "SELECT COUNT(*) FROM people WHERE (age > 5 OR member) AND (sex = 'F' OR sex = 'X')",
    ),
    "a comment": (
        lambda t: t("people").where("age > 5 -- or not").where("member").count(),
        "SELECT COUNT(*) FROM people WHERE age > 5 AND member",
    ),
    "a text with signs": (
        lambda t: t("people").where("name = 'a) -- b'").count(),
        "SELECT COUNT(*) FROM people WHERE name = 'a) -- b'",
    ),
    "a join by a column": (
        lambda t: t("people").join(t("visits"), on="person_id").count(),
        "SELECT COUNT(*) FROM people p, visits v WHERE p.person_id = v.person_id",
    ),
    "a join by a condition": (
        lambda t: (
            t("items")
            .join(t("visits"), on="items.visit_id = visits.visit_id AND items.price > visits.cost")
            .mean("price", by="kind")
        ),
        "SELECT kind, AVG(price) FROM items JOIN visits USING (visit_id) WHERE price > cost GROUP BY kind",
    ),
    "a left join": (
        lambda t: t("people").join(t("visits"), on="person_id", how="left").count(by="sex"),
        "SELECT sex, COUNT(*) FROM people LEFT JOIN visits USING (person_id) GROUP BY sex",
    ),
    "a left join with some": (
        lambda t: t("people").join(t("visits").where("cost > 5"), on="person_id", how="left").mean("cost"),
        "SELECT AVG(v.cost) FROM people p LEFT JOIN (SELECT * FROM visits WHERE cost > 5) v USING (person_id)",
    ),
    "a join of some": (
        lambda t: t("people").where("age > 5").join(t("visits"), on="person_id").count(),
        "SELECT COUNT(*) FROM (SELECT * FROM people WHERE age > 5) p JOIN visits v USING (person_id)",
    ),
    "what was clear stays clear": (
        lambda t: t("people").where("city = 'Oslo'").join(t("cities"), on="people.city = cities.city").count(),
        "SELECT COUNT(*) FROM (SELECT * FROM people WHERE city = 'Oslo') p JOIN cities c ON p.city = c.city",
    ),
    "a public table": (
        lambda t: t("people").join(t("cities"), on="city").count(by="region"),
        "SELECT region, COUNT(*) FROM people JOIN cities ON people.city = cities.city GROUP BY region",
    ),
    "some of a public table": (
        lambda t: t("people").join(t("cities").where("population > 100"), on="city").count(),
        "SELECT COUNT(*) FROM people p JOIN (SELECT * FROM cities WHERE population > 100) c USING (city)",
    ),
    "three tables": (
        lambda t: t("people").join(t("visits"), on="person_id").join(t("items"), on="visit_id").sum("price", by="sex"),
        "SELECT sex, SUM(price) FROM people JOIN visits USING (person_id) JOIN items USING (visit_id) GROUP BY sex",
    ),
    "a table with itself": (
        lambda t: (
            t("visits")
            .join(t("visits").named("later"), on="visits.person_id = later.person_id AND visits.day < later.day")
            .count()
        ),
        "SELECT COUNT(*) FROM visits a JOIN visits b USING (person_id) WHERE a.day < b.day",
    ),
    "some of a table with itself": (
        lambda t: t("visits").join(t("visits").where("urgent").named("other"), on="person_id").count(),
        "SELECT COUNT(*) FROM visits JOIN (SELECT * FROM visits WHERE urgent) AS o USING (person_id)",
    ),
    "columns": (
        lambda t: t("people").select("person_id", "sex", monthly="salary / 12").where("monthly > 5").sum("monthly"),
        "SELECT SUM(salary / 12) FROM people WHERE salary / 12 > 5",
    ),
    "columns of columns": (
        lambda t: t("people").select(a="age").select(b="a + 1").mean("b * 2"),
        "SELECT AVG((age + 1) * 2) FROM people",
    ),
    "columns of a join": (
        lambda t: t("people").join(t("cities"), on="city").select("region", "age").where("age > 5").count(by="region"),
        "SELECT region, COUNT(*) FROM people JOIN cities USING (city) WHERE age > 5 GROUP BY region",
    ),
    "a union": (
        lambda t: (
            t("visits")
            .select("person_id", amount="cost")
            .union(t("people").select("person_id", amount="salary"))
            .where("amount > 5")
            .sum("amount")
        ),
        (
            "SELECT SUM(x) FROM (SELECT person_id, cost x FROM visits UNION ALL SELECT person_id, salary FROM people)"
            " WHERE x > 5"
        ),
    ),
    "a union of three": (
        lambda t: t("people").union(t("people")).union(t("adults")).count(),
        "SELECT COUNT(*) FROM ((SELECT * FROM people UNION ALL SELECT * FROM people) UNION ALL SELECT * FROM adults)",
    ),
    "one row a person": (
        lambda t: t("visits").per_person(spent="SUM(cost)", n="COUNT(*)").mean("spent / n"),
        "SELECT AVG(s / n) FROM (SELECT person_id, COUNT(*) n, SUM(cost) s FROM visits GROUP BY person_id)",
    ),
    "only the person": (
        lambda t: t("visits").per_person().count(),
        "SELECT COUNT(*) FROM (SELECT DISTINCT person_id FROM visits)",
    ),
    "further keys": (
        lambda t: t("visits").per_person("hospital", n="COUNT(*)").mean("n", by="hospital"),
        "SELECT h, AVG(n) FROM (SELECT person_id, hospital h, COUNT(*) n FROM visits GROUP BY 1, 2) GROUP BY h",
    ),
    "only some people": (
        lambda t: t("visits").where("urgent").per_person(n="COUNT(*)", having="COUNT(*) > 2 OR SUM(cost) > 5").count(),
        (
            "SELECT COUNT(*) FROM (SELECT person_id, COUNT(*) AS n FROM visits WHERE urgent GROUP BY person_id"
            " HAVING COUNT(*) > 2 OR SUM(cost) > 5)"
        ),
    ),
    "one row a person, filtered": (
        lambda t: t("visits").per_person(n="COUNT(*)").where("n > 1").count(),
        "SELECT COUNT(*) FROM (SELECT person_id, COUNT(*) n FROM visits GROUP BY person_id) WHERE n > 1",
    ),
    "one row a person, joined": (
        lambda t: (
            t("people").join(t("visits").per_person(s="SUM(cost)"), on="person_id", how="left").mean("s", by="sex")
        ),
        (
            "SELECT sex, AVG(s) FROM people LEFT JOIN"
            " (SELECT person_id, SUM(cost) AS s FROM visits GROUP BY person_id) o USING (person_id) GROUP BY sex"
        ),
    ),
    "one row a person of a join": (
        lambda t: t("visits").join(t("items"), on="visit_id").per_person(n="COUNT(*)").mean("n"),
        (
            "SELECT AVG(n) FROM (SELECT v.person_id, COUNT(*) AS n FROM visits v JOIN items i USING (visit_id)"
            " GROUP BY v.person_id)"
        ),
    ),
    "one row a person of one row a person": (
        lambda t: t("visits").per_person("day", n="COUNT(*)").per_person(most="MAX(n)").mean("most"),
        (
            "SELECT AVG(m) FROM (SELECT person_id, MAX(n) AS m FROM"
            " (SELECT person_id, day, COUNT(*) AS n FROM visits GROUP BY person_id, day) GROUP BY person_id)"
        ),
    ),
    "a lookup": (
        lambda t: t("people").where("person_id IN (SELECT person_id FROM visits WHERE urgent)").count(),
        (
            "SELECT COUNT(*) FROM people WHERE EXISTS"
            " (SELECT 1 FROM visits v WHERE v.person_id = people.person_id AND urgent)"
        ),
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_has_the_plan_of_the_sql_that_says_the_same(tables, linked, name):
    chain, text = CHAINS[name]
    asked, payment = chain(tables)
    assert payment == {}
    assert identity(asked, linked) == identity(text, linked)


def test_plans_that_differ_are_told_apart(linked):
    identities = {text: identity(text, linked) for _, text in CHAINS.values()}
    assert len(set(identities.values())) == len(identities)


@pytest.mark.parametrize("name", CHAINS)
def test_every_chain_is_answered_and_free_in_sql(session, name):
    chain, text = CHAINS[name]
    asked, _ = chain(lambda table: open_table(Listener(session.catalog()), table))
    answer = session.sql(asked, epsilon=1)
    again = session.sql(text, epsilon=1)
    assert (answer.replayed, again.replayed) == (False, True)


# ------------------------------------------------------------------------------------------------ spending


def test_nothing_is_spent_or_read_before_something_is_asked(session):
    bills = session.table("visits").where("cost > 1").per_person(spent="SUM(cost)")
    rows = session.table("people").join(bills, on="person_id")
    assert rows.explain()
    assert "spent" in rows.sql
    assert session.budget().personal.spent.epsilon_units == 0
    assert session._curator.engine.ran == []


def test_an_answer_is_paid_for_once_in_python_and_sql(session):
    first = session.table("visits").where("cost > 1").sum("cost", by="hospital", epsilon=0.5, confidence=0.5)
    again = session.sql("SELECT SUM(cost) AS s FROM visits WHERE cost > 1 GROUP BY hospital", epsilon=0.5)
    assert first.confidence == 0.5
    assert again["s"] == first["sum"]
    assert session.budget().personal.left().epsilon == Fraction("99999.5")


def test_count_sum_and_mean_are_called_so(session):
    people = session.table("people")
    assert people.count(by="sex", epsilon=1).columns == ["sex", "count"]
    assert people.sum("age", epsilon=1).columns == ["sum"]
    assert people.mean("age", by=("sex", "member"), epsilon=1).columns == [
        "sex",
        "member",
        "mean",
    ]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({}, "asks for nothing"),
        ({"n": "counts"}, "counts is no aggregate. Fix: write"),
        ({"n": ()}, "is no aggregate"),
        ({"n": "mean"}, "mean takes 1 arguments"),
        ({"n": ("corr", "age")}, "corr takes 2 arguments"),
        ({"n m": "count"}, "n m cannot be a name"),
        ({"n": ("mean", "age) FROM people --")}, "cannot be read"),
    ],
)
def test_what_is_no_aggregate_is_refused(tables, wanted, says):
    with pytest.raises(Refusal, match=says):
        tables("people").agg(wanted, epsilon=1)


def test_options_of_aggregates_are_those_of_a_question(tables):
    asked, payment = tables("people").group_by("sex").agg(n="count", epsilon=1, rows=5, confidence=0.9, replay=False)
    assert payment == {"epsilon": 1, "rows": 5, "confidence": 0.9, "replay": False}
    assert asked == "SELECT sex, COUNT(*) AS n FROM people GROUP BY (sex)"
    assert repr(tables("people").group_by("sex")).startswith("By sex:\npeople: private rows, at most 1 of each person.")


def test_a_share_is_a_number_or_refused(tables):
    with pytest.raises(Refusal, match="cannot be read"):
        tables("people").quantile("age", "0.5) FROM people --")
    with pytest.raises(TypeError, match="Expressions are text"):
        tables("people").quantile("age", None)


def test_every_payment_of_a_session_is_taken(session):
    people = session.table("people")
    assert people.count(error=50).cost is not None
    first = people.count(epsilon=0.5, request_id="mine", replay=False)
    assert people.count(epsilon=0.5, request_id="mine", replay=False)["count"] == first["count"]
    with pytest.raises(Refusal, match="needs exactly one price"):
        people.count()


# ------------------------------------------------------------------------------------------------ explain


EXPLAINED = {
    "a table": (lambda t: t("visits"), ["visits: at most 3 rows of a person, as declared"]),
    "a public table": (lambda t: t("cities"), ["cities: public, about nobody"]),
    "a condition": (
        lambda t: t("people").where("age > 5"),
        [
            "where (age > 5): at most 1 row of a person, those of what it is made of",
            "  people: at most 1 row of a person, as declared",
        ],
    ),
    "a join": (
        lambda t: t("people").join(t("visits"), on="person_id"),
        [
            "join with visits: at most 3 rows of a person, because the one row before meets at most 3 of visits",
            "  people: at most 1 row of a person, as declared",
            "  visits: at most 3 rows of a person, as declared",
        ],
    ),
    "a join by a unique key": (
        lambda t: t("visits").join(t("items"), on="visit_id"),
        [
            "join with items: at most 4 rows of a person, because each of 4 rows of items meets at most 1 before it",
            "  visits: at most 3 rows of a person, as declared",
            "  items: at most 4 rows of a person, as declared",
        ],
    ),
    "a left join by a unique key": (
        lambda t: t("visits").join(t("items"), on="visit_id", how="left"),
        [
            (
                "left join with items: at most 7 rows of a person, because each of 4 rows of items meets at most 1"
                " before it, and 3 before may meet none"
            ),
            "  visits: at most 3 rows of a person, as declared",
            "  items: at most 4 rows of a person, as declared",
        ],
    ),
    "a left join with some public rows": (
        lambda t: t("visits").join(t("people").where("member"), on="person_id").join(t("zones"), on="city", how="left"),
        [
            "left join with zones: at most 6 rows of a person, because each of 3 rows before meets at most 2 of zones",
            "  join with people: at most 3 rows of a person, because each of 3 rows before meets at most 1 of people",
            "    visits: at most 3 rows of a person, as declared",
            "    people: at most 1 row of a person, those of what it is made of",
            "      where member: at most 1 row of a person, those of what it is made of",
            "        people: at most 1 row of a person, as declared",
            "  zones: public, about nobody",
        ],
    ),
    "a union": (
        lambda t: t("people").select("person_id", x="age").union(t("visits").select("person_id", x="cost")),
        [
            "union all: at most 4 rows of a person, 1 + 3",
            "  select c0, c1: at most 1 row of a person, those of what it is made of",
            "    people: at most 1 row of a person, as declared",
            "  select c0, c1: at most 3 rows of a person, those of what it is made of",
            "    visits: at most 3 rows of a person, as declared",
        ],
    ),
    "one row a person": (
        lambda t: t("visits").per_person(n="COUNT(*)", last="MAX(day)"),
        [
            "COUNT(*), MAX(day) by person: at most 1 row of a person, because all their rows become one",
            "  visits: at most 3 rows of a person, as declared",
        ],
    ),
    "only the person": (
        lambda t: t("visits").per_person(),
        [
            "one row by person: at most 1 row of a person, because all their rows become one",
            "  visits: at most 3 rows of a person, as declared",
        ],
    ),
    "further keys": (
        lambda t: t("visits").per_person("hospital"),
        [
            "one row by person, hospital: at most 3 rows of a person, no more than rows of theirs",
            "  visits: at most 3 rows of a person, as declared",
        ],
    ),
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_explain_says_how_many_rows_of_a_person_and_why(tables, name):
    chain, lines = EXPLAINED[name]
    assert chain(tables).explain().splitlines() == lines


def test_a_table_shows_its_sql_and_its_columns_and_nothing_else(tables):
    table = tables("visits").where("cost > 5")
    assert isinstance(table, PrivateTable)
    assert table.sql == "SELECT * FROM visits WHERE (cost > 5)"
    assert f"SQL: {table.sql}" in repr(table)
    shown = [line.split()[0] for line in repr(table).splitlines()[3:] if line]
    assert shown[: len(table.columns)] == table.columns


def test_steps_leave_the_table_they_start_from_alone(tables):
    people = tables("people")
    people.where("age > 5").select("age")
    assert people.sql == "SELECT * FROM people"


# ------------------------------------------------------------------------------------------------ refusals

FRAGMENTS = {
    "1=1) UNION SELECT": "syntax_error",
    "1=1) UNION SELECT (1": "syntax_error",
    "1=1) OR (1=1": "syntax_error",
    "age > 5; DROP TABLE people": "multiple_statements",
    "age > 5 FROM visits": "syntax_error",
    "age > 5 WHERE TRUE": "syntax_error",
    "age > 5 LIMIT 1": "syntax_error",
    "age > 5 AS x": "syntax_error",
    "age, sex": "syntax_error",
    "DISTINCT age": "syntax_error",
    "": "syntax_error",
    "   ": "syntax_error",
    "-- nothing": "syntax_error",
    "/* nothing": "syntax_error",
    "'open": "syntax_error",
    "(age > 5": "syntax_error",
    "age > 5)": "syntax_error",
    "age > $1": "syntax_not_allowed",
    "age > 5\x00": "bad_character",
}


@pytest.mark.parametrize("fragment", FRAGMENTS)
@pytest.mark.parametrize(
    "step",
    [
        lambda table, text: table.where(text),
        lambda table, text: table.join(table.named("b"), on=text),
        lambda table, text: table.select(x=text),
        lambda table, text: table.select("person_id", text),
        lambda table, text: table.per_person(x=text),
        lambda table, text: table.per_person(text),
        lambda table, text: table.per_person(having=text),
        lambda table, text: table.sum(text),
        lambda table, text: table.mean(text),
        lambda table, text: table.count(by=text),
        lambda table, text: table.count(by=["sex", text]),
    ],
    ids=["where", "on", "named", "column", "own", "key", "having", "sum", "mean", "by", "one of by"],
)
def test_only_one_whole_expression_is_taken(tables, fragment, step):
    with pytest.raises(Refusal) as refused:
        step(tables("people"), fragment)
    assert refused.value.code == FRAGMENTS[fragment]


@pytest.mark.parametrize("column", ["sex -- or not", "sex /* or not */"])
def test_a_column_or_key_has_no_comment_that_could_swallow_the_next(tables, column):
    people = tables("people")
    for step in (
        lambda: people.select("age", column),
        lambda: people.per_person(column, n="COUNT(*)"),
        lambda: people.count(by=column),
    ):
        with pytest.raises(Refusal, match="has a comment") as refused:
            step()
        assert refused.value.code == "syntax_not_allowed"


@pytest.mark.parametrize("value", [None, 5, True, b"age"])
def test_an_expression_is_text(tables, value):
    with pytest.raises(TypeError, match="Expressions are text"):
        tables("people").where(value)


@pytest.mark.parametrize("name", ["a b", "x FROM visits --", "1x", "", "é", "a" * 64, "person", 'a"b'])
def test_a_name_is_a_name(tables, name):
    people = tables("people")
    for step in (
        lambda: people.select(**{name: "age"}),
        lambda: people.per_person(**{name: "COUNT(*)"}),
        lambda: people.named(name),
    ):
        with pytest.raises(Refusal, match="cannot be a name") as refused:
            step()
        assert refused.value.code == "bad_alias"


def test_to_select_nothing_is_refused(tables):
    with pytest.raises(Refusal, match="selects nothing"):
        tables("people").select()


def test_a_table_that_is_not_in_the_catalog_is_refused_with_those_that_are(session):
    with pytest.raises(Refusal, match=r"name one of them: people, visits, .*, adults") as refused:
        session.table("pople")
    assert refused.value.code == "unknown_table"


@pytest.mark.parametrize("how", ["outer", "right", "LEFT", "", None])
def test_other_joins_are_refused(tables, how):
    with pytest.raises(Refusal, match='write how="inner" or how="left"') as refused:
        tables("people").join(tables("visits"), on="person_id", how=how)
    assert refused.value.code == "join"


def test_rows_without_their_person_cannot_be_gathered_by_person(tables):
    for rows in (tables("items"), tables("people").select("age")):
        with pytest.raises(Refusal, match="do not have the id of their person") as refused:
            rows.per_person(n="COUNT(*)")
        assert refused.value.code == "identifier_column"


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda t: t("people").count(by="name", epsilon=1), "identifier_column"),
        (lambda t: t("people").count(by="salary", epsilon=1), "needs_key_domain"),
        (lambda t: t("people").sum("weight", epsilon=1), "unbounded_expression"),
        (lambda t: t("people").sum("name", epsilon=1), "type_error"),
        (lambda t: t("people").sum("nobody", epsilon=1), "unknown_column"),
        (lambda t: t("people").where("COUNT(*) > 1").count(epsilon=1), "aggregate_in_where"),
        (lambda t: t("people").join(t("visits"), on="1 = 1").count(epsilon=1), "private_join"),
        (lambda t: t("people").join(t("cities"), on="age > 5").count(epsilon=1), "fanout_join_with_public"),
        (lambda t: t("people").join(t("people"), on="person_id").count(epsilon=1), "duplicate_alias"),
        (
            lambda t: t("people").join(t("people").named("b"), on="people.city = b.city").count(epsilon=1),
            "private_self_join",
        ),
        (lambda t: t("cities").join(t("people"), on="city", how="left").count(epsilon=1), "public_left_join"),
        (lambda t: t("people").union(t("visits")).count(epsilon=1), "type_error"),
    ],
)
def test_what_sql_refuses_python_refuses_and_nothing_is_spent(session, ask, code):
    with pytest.raises(Refusal) as refused:
        ask(session.table)
    assert refused.value.code == code
    assert session.budget().personal.spent.epsilon_units == 0
    assert session._curator.engine.ran == []
