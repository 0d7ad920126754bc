"""Killed anywhere: nothing was answered unpaid, nothing runs twice, and the ledger opens again."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from pathlib import Path

import pytest

import adomnia.ledger
from adomnia.errors import Failure, Refusal
from adomnia.ledger import Hold, StoredAnswer
from adomnia.ledger.failpoints import FAILPOINTS, KILLED, VARIABLE, failpoint
from kit.waiting import HANG_SECONDS
from ledger.references import COST, PLENTY, answered, child, list_answers, opened, plan, units_of

SOURCES = sorted(Path(adomnia.__file__).parent.rglob("*.py"))

# What must be durable when the process ends at a failpoint of a stage: nothing, the debit, or the answer as well.
WHEN_OPENING = ("anchor-created", "schema-created", "before-begin", "before-commit", "after-commit", "after-anchor")
WHEN_RESERVING = {
    "before-begin": None,
    "reserve-written": None,
    "before-commit": None,
    "after-commit": Failure,
    "after-anchor": Failure,
    "reserve-durable": Failure,
}
WHEN_COMMITTING = {
    "before-begin": Failure,
    "answer-written": Failure,
    "before-commit": Failure,
    "after-commit": StoredAnswer,
    "after-anchor": StoredAnswer,
    "answer-durable": StoredAnswer,
}
WHEN_RESTORING = ("old-moved", "draft-moved")  # in test_restore
WHEN_RELEASING = ("release-drafted",)  # in session/test_releasing
STAGES = [("reserve", *case) for case in WHEN_RESERVING.items()] + [("commit", *c) for c in WHEN_COMMITTING.items()]


def retried(ledger, name, analyst="alice"):
    """How a retry of a request ends."""
    try:
        return ledger.reserve(analyst, f"id of {name}", plan(name), COST)
    except Failure as failure:
        return failure


def test_every_failpoint_is_reached_somewhere_and_no_other_is():
    reached = {name for path in SOURCES for name in re.findall(r'failpoint\("([a-z-]+)"\)', path.read_text())}
    others = (*WHEN_RESTORING, *WHEN_RELEASING)
    assert reached == set(FAILPOINTS) == {*WHEN_OPENING, *WHEN_RESERVING, *WHEN_COMMITTING, *others}


def test_a_failpoint_ends_the_process_only_when_it_is_named(monkeypatch):
    ends = []
    monkeypatch.setattr(os, "_exit", ends.append)
    failpoint("before-commit")
    monkeypatch.setenv(VARIABLE, "after-commit")
    failpoint("before-commit")
    assert ends == []
    failpoint("after-commit")
    assert ends == [KILLED]


@pytest.mark.parametrize(("stage", "failpoint", "durable"), STAGES)
def test_killed_between_debit_and_answer(place, stage, failpoint, durable):
    path = place
    process = child("crash", path, stage, failpoint)
    said = process.communicate(timeout=HANG_SECONDS)[0].splitlines()
    assert process.returncode == KILLED
    assert said[:3] == ["opened", "granted whole", "answered whole"]
    assert ("granted cut" in said) == (stage == "commit")
    assert "answered cut" not in said
    for _ in range(2):
        with opened(path) as ledger:
            assert ledger.spent().epsilon_units == ledger.spent("alice").epsilon_units == units_of(2 if durable else 1)
            ledger.verify()
    with opened(path) as ledger:
        assert retried(ledger, "whole").payload == b"whole"
        for _ in range(2 if durable else 1):
            outcome = retried(ledger, "cut")
            assert isinstance(outcome, durable or Hold)
        assert not isinstance(outcome, StoredAnswer) or outcome.payload == b"cut"
        assert ledger.spent().epsilon_units == units_of(2)
        ledger.verify()


@pytest.mark.parametrize("failpoint", WHEN_OPENING)
def test_killed_while_a_ledger_is_made(place, failpoint):
    path = place
    for _ in range(2):
        process = child("crash", path, "open", failpoint)
        said = process.communicate(timeout=HANG_SECONDS)[0]
        if process.returncode == 0:  # the second time there may be nothing left to make
            assert failpoint in ("anchor-created", "schema-created")
            break
        assert (process.returncode, said) == (KILLED, "")
    with opened(path) as ledger:
        ledger.verify()
        answered(ledger)


@pytest.mark.parametrize("failpoint", [*WHEN_RESERVING, "answer-written"])
def test_killed_while_an_answer_is_shared(place, failpoint):
    path = place
    with opened(path) as ledger:
        answered(ledger, payload=b"shared")
    process = child("share", path, failpoint)
    said = process.communicate(timeout=HANG_SECONDS)[0]
    assert (process.returncode, said) == (KILLED, "")
    durable = WHEN_RESERVING.get(failpoint) is not None
    with opened(path) as ledger:
        assert ledger.spent("bob").epsilon_units == units_of(durable)
        assert ledger.spent().epsilon_units == units_of(1)
        assert ledger.reserve("bob", "id of shared", plan("q"), COST).payload == b"shared"
        assert ledger.spent("bob").epsilon_units == units_of(1)
        ledger.verify()


def test_a_write_ahead_log_that_vanished_after_a_crash_is_noticed(tmp_path):
    path = tmp_path / "ledger.db"
    process = child("crash", path, "commit", "answer-durable")
    process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == KILLED
    path.with_name("ledger.db-wal").unlink()
    with pytest.raises(Refusal, match=r"(is empty|ends at entry 0), but its anchor remembers"):
        opened(path)


def killed_at_random(path, rounds, seed) -> None:
    """Kill a busy process again and again, and compare what it said with what the ledger knows."""
    moments = random.Random(seed)
    spent, granted, replies = 0, set(), set()
    for _ in range(rounds):
        process = child("endless", path)
        assert process.stdout.readline() == "opened\n"
        time.sleep(moments.uniform(0.0, 0.15))
        process.send_signal(signal.SIGKILL)
        lines = process.communicate(timeout=HANG_SECONDS)[0].split("\n")[:-1]  # the last may be cut off
        granted |= {line.removeprefix("granted ") for line in lines if line.startswith("granted ")}
        replies |= {line.removeprefix("answered ") for line in lines if line.startswith("answered ")}
        assert process.returncode == -signal.SIGKILL
        with opened(path, *PLENTY) as ledger:
            assert ledger.spent().epsilon_units >= spent
            spent = ledger.spent().epsilon_units
            assert spent >= units_of(len(granted))
            ledger.verify()
    with opened(path, *PLENTY) as ledger:
        names = [receipt.request_id for receipt in list_answers(ledger)]
        kept = {name: ledger.answer("alice", name).payload.decode() for name in names}
        assert replies <= set(kept)
        assert all(name == payload for name, payload in kept.items())
        for name in granted - set(kept):
            with pytest.raises(Failure):
                ledger.reserve("alice", name, plan(name), COST)
        assert ledger.spent().epsilon_units == spent
    assert len(replies) > 0


def test_killed_at_random(place):
    killed_at_random(place, rounds=12 if isinstance(place, Path) else 6, seed=1)


@pytest.mark.soak
def test_killed_at_random_many_times(place):
    killed_at_random(place, rounds=320, seed=time.time())
