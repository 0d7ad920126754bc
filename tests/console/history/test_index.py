from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from adomnia.console.history import index
from adomnia.console.history.index import Histories, History
from adomnia.errors import Refusal
from adomnia.ledger.requests import Receipt
from adomnia.privacy.events import Pure
from adomnia.session.accounts import Past
from adomnia.work import Work, limit


@dataclass
class Ledgered:
    """A session that has answered so many questions; it counts how often it was asked for a page."""

    number: int
    analyst: str = "alice"
    page: int = 1000
    calls: int = 0
    first: int = 0
    kept: dict[int, Past] = field(default_factory=dict)

    def answers(self, *, after: str | None = None) -> list[Past]:
        self.calls += 1
        start = self.first if after is None else int(after.removeprefix("id-")) + 1
        if start > self.number:
            raise Refusal("Request", "has no answer of yours", "take another", code="unknown_answer")
        return [self.past(k) for k in range(start, min(start + self.page, self.number))]

    def past(self, k: int) -> Past:
        text = f"SELECT COUNT(*) AS n{k} FROM People WHERE age > {k % 90} AND city = 'Århus'"
        return Past(f"id-{k}", (text,), 1, Receipt("alice", f"id-{k}", b"p", Pure(0.1), "", text, at="2026-11-16"))


def numbers(found) -> list[int]:
    return [int(past.request_id.removeprefix("id-")) for past in found]


def test_the_newest_come_first_and_only_what_is_new_is_read():
    session, histories = Ledgered(2500), Histories()
    assert numbers(histories.read(session).newest_first()) == list(range(2499, -1, -1))
    assert session.calls == 4
    session.number += 2
    kept = histories.read(session)
    assert numbers(kept.newest_first())[:3] == [2501, 2500, 2499]
    assert (session.calls, kept.complete) == (6, True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("n7 from", [7]),
        ("N7 FROM", [7]),
        ("people n7 select århus ÅRHUS", [8, 7]),
        ("id-3", [3]),
        ("n7 nothing", []),
        ("", list(range(8, -1, -1))),
        ("  ", list(range(8, -1, -1))),
    ],
)
def test_all_words_must_stand_somewhere_in_the_question_or_its_id(query, found):
    session, history = Ledgered(9), History()
    history.extend(session)
    wanted = [k for k in found if "n7" not in query.lower() or k == 7]
    assert numbers(history.search(query)) == wanted


def test_ten_thousand_answers_are_searched_in_few_steps():
    history, session = History(), Ledgered(10_000)
    history.extend(session)
    session.calls, work = 0, Work()
    with limit(work):
        history.extend(session)
        assert numbers(history.search("n9999 people")) == [9999]
    assert session.calls == 1
    assert work.steps < 25_000


def test_so_many_are_read_in_one_visit_and_the_next_goes_on():
    session, history = Ledgered(30, page=1), History()
    history.extend(session)
    assert (len(history.newest_first()), history.complete) == (12, False)
    history.extend(session)
    history.extend(session)
    assert (len(history.newest_first()), history.complete) == (30, True)


def measure(number: int) -> int:
    """What so many answers take in memory."""
    history = History()
    history.extend(Ledgered(number))
    return history.size


def test_of_very_many_the_newest_are_kept(monkeypatch):
    history, most = History(), measure(10)
    monkeypatch.setattr(index, "MOST_OF_ONE", most)
    history.extend(Ledgered(30))
    kept = numbers(history.newest_first())
    assert kept == list(range(29, 29 - len(kept), -1))
    assert 8 <= len(kept) == 30 - history.forgotten
    assert history.size <= most


def test_an_older_ledger_in_the_place_of_the_one_that_was_read_is_read_anew():
    session, history = Ledgered(20), History()
    history.extend(session)
    session.number = 5
    history.extend(session)
    assert numbers(history.newest_first()) == [4, 3, 2, 1, 0]


def test_other_refusals_are_not_hidden():
    class Broken(Ledgered):
        def answers(self, *, after=None):
            raise Refusal("The request", "takes too long", "ask less", code="too_much_work")

    with pytest.raises(Refusal, match="takes too long"):
        History().extend(Broken(1))


def test_whose_history_was_not_looked_at_for_longest_is_dropped_first(monkeypatch):
    histories, sessions = Histories(), [Ledgered(10, name) for name in ("alice", "bob", "carol")]
    monkeypatch.setattr(index, "MOST_OF_ALL", measure(25))
    for session in sessions:
        histories.read(session)
    for session in sessions:
        session.calls = 0
    for session in reversed(sessions):
        histories.read(session)
    assert [session.calls for session in sessions] == [2, 1, 1]
