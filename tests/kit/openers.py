"""What tests run in processes of their own: an analyst who is killed at a failpoint, and analysts who race."""

from __future__ import annotations

import os
import sys

import adomnia
from adomnia.errors import Refusal
from adomnia.ledger.failpoints import VARIABLE
from kit.released import QUESTION


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def crash(folder: str, failpoint: str) -> None:
    """One whole question, then one that ends at the failpoint."""
    session = adomnia.open(folder).session("alice")
    say("answered", session.sql("SELECT COUNT(*) FROM people", epsilon=0.25, request_id="whole")["count"][0])
    os.environ[VARIABLE] = failpoint
    say("answered", session.sql("SELECT COUNT(*) FROM visits", epsilon=0.25, request_id="cut")["count"][0])


def open_until(folder: str, failpoint: str) -> None:
    """Open a dataset whose profile is not paid for yet, and end at the failpoint."""
    os.environ[VARIABLE] = failpoint
    say("opened", adomnia.open(folder).catalog.table("visits").profile is not None)


def open_together(folder: str) -> None:
    """Open a dataset when told to, and say what its profile is."""
    say("ready")
    sys.stdin.readline()
    with adomnia.open(folder) as curator:
        say(curator.catalog.table("visits").profile.people)


def race(folder: str, name: str) -> None:
    """Ask until the budget ends, each time something new."""
    session = adomnia.open(folder).session("carol")
    say("ready")
    sys.stdin.readline()
    granted = 0
    for number in range(30):
        try:
            session.sql("SELECT COUNT(*) FROM people", epsilon=0.05, request_id=f"{name} {number}", replay=False)
            granted += 1
        except Refusal:
            pass
    say(granted)


def release_until(folder: str, failpoint: str) -> None:
    """Publish a release, and end at the failpoint."""
    session = adomnia.open(folder).session("alice")
    os.environ[VARIABLE] = failpoint
    say("made", session.release("ages", QUESTION, epsilon=1).name)


def release_together(folder: str) -> None:
    """Publish a release when told to, and say which debit paid for it."""
    with adomnia.open(folder) as curator:
        say("ready")
        sys.stdin.readline()
        say(curator.session("alice").release("ages", QUESTION, epsilon=1).about["receipt"])
