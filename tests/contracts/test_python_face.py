"""The face of Python is one over every kind of session: on this machine, over HTTP, of own tables, and on made-up rows.

Nothing of it reads or spends: budgets and what the engine ran are compared before and after.
"""

from __future__ import annotations

import doctest
import inspect
from contextlib import ExitStack
from typing import Any

import pandas as pd
import pytest

import adomnia
from adomnia.client.session import RemoteSession, connect
from adomnia.errors import Refusal
from adomnia.session.answer import Answer
from adomnia.session.askable import AskableRelease, open_release
from adomnia.session.contract import Session
from adomnia.session.curator import open_folder
from adomnia.session.models import ModelAnswer
from adomnia.session.own_session import OwnSession, protect
from adomnia.session.session import LocalSession
from adomnia.session.table import GroupedTable, PrivateTable
from kit.hospital import person, visit, write
from kit.serving import HOST, served, tokens

PEOPLE = [
    person(k, name=f"n{k}", age=10.0 + k % 80, sex="FM"[k % 2], city="Oslo", salary=1000.0 * k, member=k % 3 == 0)
    for k in range(300)
]
VISITS = [visit(k % 300, hospital=f"H{k % 4 + 1}", cost=10.0 * k, diagnosis="d") for k in range(500)]
OWN = {
    "person_id": [each["person_id"] for each in PEOPLE],
    "age": [each["age"] for each in PEOPLE],
    "sex": [each["sex"] for each in PEOPLE],
    "salary": [each["salary"] for each in PEOPLE],
}
KINDS = ("local", "client", "own", "mock of local", "mock of client", "mock of own")
GROUPED = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY sex"


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    folder = write(tmp_path_factory.mktemp("face") / "hospital", PEOPLE, VISITS)
    bounds, sexes = {"age": (0, 120), "salary": (0, 500_000)}, {"sex": ["F", "M", "X"]}
    with ExitStack() as stack:
        curator = stack.enter_context(adomnia.open(folder))
        local = curator.session("alice")
        server = stack.enter_context(served(folder, "--workers", 1, "--bucket", 0, "--rate", 10_000))
        url = f"http://{HOST}:{server.port}"
        client = stack.enter_context(connect(url, tokens(folder, ("alice",))["alice"]))
        declared = {"rows_per_person": {"people": 1}, "bounds": bounds, "categories": sexes}
        own = stack.enter_context(protect({"people": OWN}, unit="people.person_id", epsilon=10**5, **declared))
        found = {"local": local, "client": client, "own": own}
        yield found | {f"mock of {name}": session.mock() for name, session in found.items()}


@pytest.fixture(params=KINDS)
def session(request, sessions):
    return sessions[request.param]


def left(session: Any) -> str:
    return str(session.budget())


def test_a_session_shows_what_it_may_do_and_neither_reads_nor_spends(session, sessions):
    before = left(session)
    for shown in (repr(session), session._repr_html_()):
        for word in ("people", "sex", "age", "Left", "To begin with", "session.price", "session.sql", "session.table"):
            assert word in shown
        assert ("Rows are made up" in shown) == (session not in [sessions[name] for name in KINDS[:3]])
    assert left(session) == before


def test_what_a_session_says_to_begin_with_can_be_asked(session):
    calls = [line.strip() for line in repr(session).splitlines() if line.startswith("  session.")]
    assert len(calls) == 3
    for call in calls:
        assert eval(call, {"session": session}) is not None


def test_rows_show_their_columns_and_calls_that_can_be_asked(session):
    people, before = session.table("people"), left(session)
    assert {"person_id", "age", "sex", "salary"} <= set(people.columns)
    assert "private rows, at most 1 of each person" in repr(people)
    assert "<table>" in people._repr_html_()
    assert left(session) == before
    for call in [line.strip() for line in repr(people).splitlines() if line.startswith("  people.")]:
        assert eval(call, {"people": people}) is not None


def test_an_answer_is_a_list_of_rows_with_names(session):
    answer = session.sql(GROUPED, epsilon=1)
    assert isinstance(answer, Answer)
    assert answer.columns == ["sex", "n", "mean"]
    assert answer.shape == (3, 3)
    assert [row["sex"] for row in answer] == answer["sex"] == ["F", "M", "X"]
    assert list(answer) == answer.records() == answer.to_dict("records")
    assert answer[0] == answer.records()[0]
    assert answer[-1] == answer.records()[-1]
    assert answer.head(1).records() == answer[:1].records() == answer.records()[:1]
    assert answer[1:].interval("n") == answer.interval("n")[1:]
    assert answer[1:].interval("n", 0.8, simultaneous=True) == answer.interval("n", 0.8, simultaneous=True)[1:]
    assert answer[::-1]["sex"] == ["X", "M", "F"]
    assert answer.to_dict() == {name: [row[name] for row in answer] for name in answer.to_pandas().columns}
    assert pd.DataFrame(answer).shape == answer.to_pandas().shape
    with pytest.raises(IndexError):
        answer[3]
    with pytest.raises(KeyError, match="it has sex, n, mean"):
        answer["pay"]
    with pytest.raises(ValueError, match="orient must be one of list, records"):
        answer.to_dict("split")


@pytest.mark.parametrize("name", ["filter", "head", "describe", "groupby", "loc", "shape", "age", "nothing_like_it"])
def test_what_rows_have_not_is_refused_with_what_to_write(session, name):
    people, before = session.table("people"), left(session)
    for rows in (people, people.where("age > 20"), people.group_by("sex")):
        with pytest.raises(AttributeError) as refused:
            getattr(rows, name)
        assert isinstance(refused.value, Refusal)
        assert refused.value.code == "unknown_attribute"
    assert left(session) == before


def test_a_model_has_the_parts_that_statistics_give_it(session):
    model = session.table("people").lm("salary ~ age + sex", epsilon=50)
    assert isinstance(model, ModelAnswer)
    assert list(model.params) == list(model.conf_int()) == ["(Intercept)", "age", "sex[M]", "sex[X]"]
    assert list(model.bse.values()) == model["standard_error"]
    assert list(model.pvalues.values()) == model["p_value"]
    assert "lm: salary ~ age + sex" in str(model.summary())
    before, rows = left(session), pd.DataFrame({"age": [30, 60], "sex": ["F", "M"]}, index=[5, 9])
    predicted = model.predict(rows)
    assert (type(predicted), list(predicted.index)) == (pd.DataFrame, [5, 9])
    assert model.predict(rows.to_dict("records")) == predicted.to_dict("records")
    assert left(session) == before


FACE = [
    Session,
    LocalSession,
    RemoteSession,
    OwnSession,
    PrivateTable,
    GroupedTable,
    Answer,
    ModelAnswer,
    AskableRelease,
]
# What needs a server and two analysts, and what the surfaces call and analysts do not.
WITHOUT_EXAMPLE = {
    *(f"RemoteSession.{name}" for name in ("share", "shares", "open_shared", "buy_shared", "end_share", "close")),
    *(f"{kind}.{name}" for kind in ("LocalSession", "OwnSession") for name in ("recall", "take")),
    *(f"{kind}.read" for kind in ("Answer", "ModelAnswer")),
}


def public_methods():
    for kind in FACE:
        for name in dir(kind):
            found = inspect.getattr_static(kind, name)
            if not name.startswith("_") and (inspect.isfunction(found) or isinstance(found, property)):
                yield f"{kind.__name__}.{name}", getattr(kind, name)
    yield from ((each.__name__, each) for each in (protect, connect, open_folder, open_release))


@pytest.mark.parametrize(("name", "method"), [each for each in public_methods() if each[0] not in WITHOUT_EXAMPLE])
def test_every_public_method_is_explained_with_an_example(name, method):
    told = inspect.getdoc(method)
    assert told is not None
    assert doctest.DocTestParser().get_examples(told) or "In Python: session.table" in told or "BLOCK" in told
