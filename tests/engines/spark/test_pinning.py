"""Servers that only look like Spark are found out by statements with known answers."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pyspark
import pytest

from adomnia.engines.limits import Limits
from adomnia.engines.spark.pinning import TRUTHS, try_out
from adomnia.engines.spark.session import open_session
from adomnia.errors import Refusal
from kit import spark


def server(truths, *, fails=()):
    """A server that answers so, and fails where it is asked one of some things."""

    def sql(text):
        asked = [place for place, truth in enumerate(TRUTHS.values()) if f"({truth})" in text]
        if set(fails) & set(asked):
            raise ValueError("secret words")
        return SimpleNamespace(toArrow=lambda: pa.table({f"t{at}": [truths[place]] for at, place in enumerate(asked)}))

    return SimpleNamespace(sql=sql)


TRUE = [True] * len(TRUTHS)


def test_a_server_that_computes_as_spark_is_trusted():
    try_out(server(TRUE))


@pytest.mark.parametrize("place", range(len(TRUTHS)))
@pytest.mark.parametrize("answer", [False, None])
def test_every_wrong_answer_is_noticed(place, answer):
    truths = [answer if at == place else True for at in range(len(TRUTHS))]
    with pytest.raises(Refusal, match=f"it does not hold that {list(TRUTHS)[place]}"):
        try_out(server(truths))


def test_a_server_that_does_not_understand_is_not_trusted_and_not_quoted():
    with pytest.raises(Refusal, match=f"it does not hold that {list(TRUTHS)[3]}") as refused:
        try_out(server(TRUE, fails=(3,)))
    assert "secret" not in f"{refused.value} {refused.value.__cause__}"


def test_a_server_that_answers_one_by_one_alone_is_not_trusted():
    def sql(text):
        if text.count(" AS t") > 1:
            raise ValueError
        return SimpleNamespace(toArrow=lambda: pa.table({"t0": [True]}))

    with pytest.raises(Refusal, match="does not answer all at once"):
        try_out(SimpleNamespace(sql=sql))


def test_sail_is_not_taken_for_spark(monkeypatch):
    """In it 0 and -0 differ, so that a quotient that is guarded against 0 fails in the rows of some people."""
    monkeypatch.setattr(pyspark, "__version__", "4.1.1")  # Sail looks at it, for functions in Python
    with pytest.raises(Refusal, match="does not compute as Spark does: it does not hold that 0 and -0 are equal"):
        open_session(spark.sail(), Limits())
