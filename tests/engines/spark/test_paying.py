"""Questions over Spark Connect, end to end: what is lost before the debit costs nothing, what is lost after it is paid
for once, nothing runs twice, and nothing of questions or values is written down."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.spark.engine import Spark
from adomnia.errors import Failure, Unavailable
from adomnia.session.curator import open_folder
from kit import spark

CATALOG = """
[dataset]
name = "trips"
version = 1
unit = "people.person_id"

[budget]
epsilon = 100

[analysts.bob]
epsilon = 100

[engine]
name = "spark"
url = "{url}"

[tables.people]
source = "people.parquet"
rows_per_person = 2

[tables.people.columns]
person_id = {{ type = "id" }}
city = {{ type = "category", values = ["Oslo", "Rome"] }}
fare = {{ type = "number", lower = 0, upper = 1000 }}
note = {{ type = "text" }}

[tables.cities]
source = "cities.csv"
public = true

[tables.cities.columns]
city = {{ type = "text" }}
zone = {{ type = "text" }}
"""
CANARY = "canary-4711"


@pytest.fixture(scope="module")
def wire():
    return spark.Wire()


@pytest.fixture(scope="module")
def curator(tmp_path_factory, wire):
    folder = tmp_path_factory.mktemp("trips")
    rows = range(300)
    table = {"person_id": [at // 3 for at in rows], "city": ["Rome" if at % 3 else "Oslo" for at in rows]}
    table |= {"fare": [float(at) for at in rows], "note": [CANARY] * len(rows)}
    pq.write_table(pa.table(table), folder / "people.parquet")
    (folder / "cities.csv").write_text("city,zone\nOslo,north\nRome,south\n")
    (folder / "catalog.toml").write_text(CATALOG.format(url=wire.url))
    with open_folder(folder) as opened:
        yield opened


@pytest.fixture
def session(curator):
    return curator.session("bob")


@pytest.fixture
def sent(monkeypatch):
    """The statements that Connect sends."""
    from pyspark.sql.connect.session import SparkSession

    texts, sql = [], SparkSession.sql

    def note(self, text, *given, **named):
        texts.append(text)
        return sql(self, text, *given, **named)

    monkeypatch.setattr(SparkSession, "sql", note)
    return texts


def test_a_question_is_answered_over_connect(curator, session, capfd):
    assert isinstance(curator.engine, Spark)
    answer = session.sql("SELECT city, COUNT(*), SUM(fare), AVG(fare) FROM people GROUP BY city", epsilon=10)
    assert len(answer) == 2
    joined = session.sql(
        "SELECT z.zone, COUNT(*) FROM people p JOIN cities z ON p.city = z.city GROUP BY z.zone", epsilon=10
    )
    assert len(joined) == 2
    public = session.sql("SELECT city, zone FROM cities ORDER BY zone")
    assert [list(public["city"]), list(public["zone"])] == [["Oslo", "Rome"], ["north", "south"]]
    session.sql(f"SELECT COUNT(*) FROM people WHERE note = '{CANARY}' AND fare > 17.25", epsilon=1)
    out, err = capfd.readouterr()
    assert not [word for word in (CANARY, "17.25", "SELECT", "rank") if word in out + err]


def test_a_statement_that_fails_leaves_nothing_in_a_log(curator, session, capfd, caplog):
    with patch("adomnia.engines.spark.running.Asked.run", failing), pytest.raises(Failure) as failed:
        session.sql(f"SELECT COUNT(*) FROM people WHERE note = '{CANARY}' AND fare > 18.25", epsilon=1)
    assert failed.value.__cause__ is None
    out, err = capfd.readouterr()
    said = out + err + caplog.text
    assert not [word for word in (CANARY, "18.25", "SELECT", "DIVIDE") if word in said]


def failing(self, statement, _most):
    """As a statement fails in which a row does: Spark quotes the statement."""
    bound = {f"p{place}": text for place, text in enumerate(statement.parameters, start=1)}
    text = statement.text.replace("COUNT(*)", "SUM(1 DIV (rank - rank))")
    return self.own.session.sql(text, args=bound).toArrow()


def test_a_server_that_is_lost_before_the_debit_costs_nothing(curator, session, wire, sent):
    before = curator.ledger.spent("bob")
    wire.cut()
    try:
        with pytest.raises(Unavailable, match="nothing was paid"):
            session.sql("SELECT COUNT(*) FROM people WHERE fare > 5", epsilon=1)
        assert not curator.engine.is_reachable()
        assert curator.engine.is_open()  # a worker waits for the server, and does not end
    finally:
        wire.mend()
    assert curator.ledger.spent("bob") == before
    session.sql("SELECT COUNT(*) FROM people WHERE fare > 5", epsilon=1)
    assert len([text for text in sent if "5.0e0" in text]) == 1


def test_a_server_that_is_lost_after_the_debit_is_paid_once_and_asked_once(curator, session, wire, sent):
    reserve, before = curator.ledger.reserve, curator.ledger.spent("bob")

    def cut_after(*given, **named):
        held = reserve(*given, **named)
        wire.cut()
        return held

    try:
        with patch.object(curator.ledger, "reserve", cut_after), pytest.raises(Failure) as failed:
            session.sql("SELECT COUNT(*) FROM people WHERE fare > 7", epsilon=1)
    finally:
        wire.mend()
    assert failed.value.__cause__ is None
    once = curator.ledger.spent("bob")
    assert once != before
    session.sql("SELECT COUNT(*) FROM people WHERE fare > 8", epsilon=1)
    assert len([text for text in sent if "7.0e0" in text]) == 1


def test_a_server_that_forgot_the_session_gets_another(curator, session):
    """As after a restart: the tables of the index have to be named again."""
    curator.engine._running._own.session.client.release_session()
    session.sql("SELECT COUNT(*) FROM people WHERE fare > 9", epsilon=1)
    assert curator.engine.is_reachable()
