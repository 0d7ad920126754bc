"""The ledger as its callers see it: exact under threads and processes, durable, and the same in memory."""

from __future__ import annotations

import gc
import os
import select
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger import Hold, Ledger, StoredAnswer, files
from adomnia.ledger.postgres_place import PostgresPlace
from adomnia.privacy.events import Approximate, BoundedRange, Composed, Concentrated, Pure
from adomnia.privacy.filters import Budget, Spent
from kit.waiting import HANG_SECONDS
from ledger.references import (
    ANALYSTS,
    BUDGET,
    COST,
    answered,
    child,
    on_another_machine,
    opened,
    plan,
    units_of,
    write_place,
)

PROCESSES = 4

amounts = st.one_of(
    st.fractions(min_value=Fraction(1, 10**14), max_value=Fraction(1, 2), max_denominator=10**14),
    st.sampled_from([Fraction(1, 3), Fraction(1, 10), Fraction(1, 10**12), Fraction(1, 10**13), Fraction(7, 10**12)]),
).filter(bool)
deltas = st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(1, 10**31), Fraction(1, 3 * 10**8)])
simple_events = st.one_of(
    st.builds(Pure, amounts),
    st.builds(BoundedRange, amounts),
    st.builds(Concentrated, amounts.map(lambda rho: rho / 20), deltas),
    st.builds(Approximate, amounts, deltas),
)
spends = st.one_of(simple_events, st.lists(simple_events, min_size=1, max_size=3).map(Composed))
budgets = st.one_of(
    st.builds(Budget, st.fractions(Fraction(1, 10), 3, max_denominator=1000)),
    st.builds(Budget, st.sampled_from([Fraction(1), Fraction(2)]), st.just(Fraction(1, 10**6)), st.booleans()),
)


def exact_cost(event) -> tuple[Fraction | None, Fraction, Fraction]:
    """Epsilon, rho and delta of an event, written down a second time."""
    match event:
        case Pure(epsilon=epsilon):
            return epsilon, epsilon**2 / 2, Fraction(0)
        case BoundedRange(epsilon=epsilon):
            return epsilon, epsilon**2 / 8, Fraction(0)
        case Concentrated(rho=rho, delta=delta):
            return None, rho, delta
        case Approximate(epsilon=epsilon, delta=delta):
            return epsilon, epsilon**2 / 2, delta
    parts = [exact_cost(part) for part in event.events]
    pure = None if any(part[0] is None for part in parts) else sum(part[0] for part in parts)
    return pure, sum(part[1] for part in parts), sum(part[2] for part in parts)


class Reference:
    """The rule of admission in plain fractions, one spend rounded up to whole units."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.epsilon = self.rho = self.delta = Fraction(0)
        self.exact_epsilon = self.exact_rho = self.exact_delta = Fraction(0)
        self.in_epsilon = True

    def next(self, event):
        epsilon, rho, delta = exact_cost(event)
        up = lambda amount, unit: Fraction(ceil(amount * unit), unit)  # noqa: E731
        return (
            self.in_epsilon and epsilon is not None,
            self.epsilon + up(epsilon or 0, 10**12),
            self.rho + up(rho, 10**12),
            self.delta + up(delta, 10**30),
        )

    def admits(self, event) -> bool:
        in_epsilon, epsilon, rho, delta = self.next(event)
        if (exact_cost(event)[0] is None or exact_cost(event)[2]) and not self.budget.approximate:
            return False
        either = (in_epsilon and epsilon <= self.budget.epsilon) or rho <= self.budget.rho
        return either and delta <= self.budget.event_delta

    def spend(self, event) -> None:
        self.in_epsilon, self.epsilon, self.rho, self.delta = self.next(event)
        epsilon, rho, delta = exact_cost(event)
        self.exact_epsilon += epsilon or 0
        self.exact_rho += rho
        self.exact_delta += delta

    def spent(self) -> Spent:
        return Spent(int(self.epsilon * 10**12), int(self.rho * 10**12), int(self.delta * 10**30), self.in_epsilon)


@settings(max_examples=60, deadline=None)
@given(budgets, budgets, st.lists(st.tuples(st.sampled_from(["alice", "bob"]), spends), max_size=25))
def test_random_spends_are_granted_exactly_when_fractions_say_so(dataset, personal, asked):
    references = {None: Reference(dataset), "alice": Reference(personal), "bob": Reference(personal)}
    with Ledger.open(":memory:", dataset, {"alice": personal, "bob": personal}) as ledger:
        for number, (analyst, event) in enumerate(asked):
            payers = references[None], references[analyst]
            if all(payer.admits(event) for payer in payers):
                assert isinstance(ledger.reserve(analyst, str(number), plan(number), event), Hold)
                for payer in payers:
                    payer.spend(event)
            else:
                with pytest.raises(Refusal):
                    ledger.reserve(analyst, str(number), plan(number), event)
        for analyst, reference in references.items():
            assert ledger.spent(analyst) == reference.spent()
            assert reference.epsilon >= reference.exact_epsilon
            concentrated = reference.exact_rho <= reference.budget.rho
            assert (reference.in_epsilon and reference.exact_epsilon <= reference.budget.epsilon) or concentrated
            assert reference.exact_delta <= reference.budget.event_delta
        ledger.verify()


def test_ten_tenths_fit_a_budget_of_one_and_nothing_more_does():
    with opened(":memory:") as ledger:
        for number in range(10):
            ledger.reserve("alice", str(number), plan(number), Pure(0.1))
        assert ledger.left().epsilon == 0
        for epsilon in (1e-300, 1e-17, 1e-12):  # a float would swallow them: 1.0 + 1e-17 == 1.0
            with pytest.raises(Refusal):
                ledger.reserve("alice", "more", plan("more"), Pure(epsilon))


def test_the_least_spend_costs_a_unit():
    with opened(":memory:") as ledger:
        ledger.reserve("alice", "1", plan(1), Pure(1e-300))
        assert ledger.spent() == Spent(1, 1, 0)


def list_machines(place, folder):
    """Where each process has the ledger: half of them are on another machine, if it can be on several."""
    if not isinstance(place, PostgresPlace):
        return [place] * PROCESSES
    opened(place).close()
    other = on_another_machine(place, place.folder / folder)
    return [place, other] * (PROCESSES // 2)


def granted_in_a_race(places) -> list[int]:
    """How many spends of a hundredth were granted, ledger by ledger, to all threads of all processes together."""
    racers = [child("race", number) for number in range(PROCESSES)]
    granted = []
    for number, place in enumerate(places):
        for racer, whose in zip(racers, list_machines(place, f"other {number}"), strict=True):
            racer.stdin.write(f"{write_place(whose)}\n")
            racer.stdin.flush()
        said = [racer.stdout.readline() for racer in racers]
        assert all(said), "a process ended before it had spent what it could"
        granted.append(sum(map(int, said)))
    for racer in racers:
        racer.communicate(timeout=HANG_SECONDS)
        assert racer.returncode == 0
    return granted


def several_of(place, count):
    """As many places of one kind."""
    if isinstance(place, Path):
        return [place.with_name(f"{number}.db") for number in range(count)]
    places = [replace(place, schema=f"{place.schema}_{n}", folder=place.folder / str(n)) for n in range(count)]
    for each in places:
        each.folder.mkdir()
    return places


def test_four_processes_of_sixteen_threads_never_overspend(place):
    places = several_of(place, 3)
    assert granted_in_a_race(places) == [100] * len(places)
    for each in places:
        with opened(each) as ledger:
            assert ledger.spent().epsilon_units == ledger.spent("alice").epsilon_units == units_of(100)
            assert len(ledger.answers("alice")) == 100
            ledger.verify()


@pytest.mark.soak
def test_four_processes_never_overspend_in_twenty_rounds(place):
    assert granted_in_a_race(several_of(place, 20)) == [100] * 20


@pytest.mark.parametrize("place", [":memory:", "ledger.db"])
def test_threads_of_one_process_never_overspend(tmp_path, place):
    with opened(place if place == ":memory:" else tmp_path / place) as ledger:

        def spend(number):
            try:
                ledger.reserve("alice" if number % 2 else "bob", str(number), plan(number), COST).commit(b"noisy")
            except Refusal:
                return 0
            return 1

        with ThreadPoolExecutor(16) as threads:
            assert sum(threads.map(spend, range(400))) == 100
        assert ledger.left().epsilon == 0
        ledger.verify()


def test_one_request_id_from_many_threads_is_granted_once(place):
    with opened(place) as ledger:

        def ask(_):
            try:
                return ledger.reserve("alice", "the same", plan("q"), COST)
            except Failure:
                return None

        with ThreadPoolExecutor(16) as threads:
            outcomes = list(threads.map(ask, range(64)))
        assert sum(isinstance(outcome, Hold) for outcome in outcomes) == 1
        assert ledger.spent().epsilon_units == units_of(1)


@pytest.mark.parametrize("where", ["file", "memory", "postgres"])
def test_equal_questions_that_take_turns_pay_once(tmp_path, where, request):
    path = {"file": tmp_path / "ledger.db", "memory": ":memory:"}.get(where) or request.getfixturevalue("shared")
    with opened(path) as ledger, opened(path) as second:

        def ask(number):
            ledger = ledgers[number % 3 == 0]
            with ledger.lock("question", "q"):
                outcome = ledger.reserve("alice" if number % 2 else "bob", str(number), plan("q"), COST)
                if isinstance(outcome, Hold):
                    time.sleep(0.01)
                    outcome.commit(b"noisy")
                    return b"noisy"
                return outcome.payload

        ledgers = [ledger, ledger if where == "memory" else second]  # another one of the same file, as a process has it
        with ThreadPoolExecutor(16) as threads:
            assert set(threads.map(ask, range(64))) == {b"noisy"}
        assert ledger.spent().epsilon_units == units_of(1)
        assert ledger.spent("alice") == ledger.spent("bob") == ledger.spent()


def test_turns_of_different_questions_do_not_wait_for_each_other_and_are_forgotten():
    with opened(":memory:") as ledger:
        entered = []

        def enter(*about):
            with ledger.lock(*about):
                entered.append(about)

        waiting = threading.Thread(target=enter, args=("question", "1"))
        with ledger.lock("question", "1"):
            waiting.start()
            enter("question", "2")
            enter("price", "1")
            waiting.join(0.2)
            assert entered == [("question", "2"), ("price", "1")]
        waiting.join(HANG_SECONDS)
        assert entered[2:] == [("question", "1")]
        gc.collect()
        assert len(ledger._locks) == 0


def test_two_ledgers_on_one_file_see_each_others_spends(place):
    path = place
    with opened(path) as one, opened(path) as other:
        answered(one, name="first")
        assert other.spent().epsilon_units == units_of(1)
        assert other.reserve("alice", "new", plan("first"), COST).payload == b"noisy"
        hold = other.reserve("alice", "second", plan("second"), COST)
        with pytest.raises(Failure):
            one.reserve("alice", "second", plan("second"), COST)  # somebody else's hold: not answered, so it fails
        hold.commit(b"late")
        assert one.reserve("alice", "second", plan("second"), COST).payload == b"late"
        one.verify()


def test_everything_is_there_after_opening_again(place):
    path = place
    with opened(path) as ledger:
        receipt = answered(ledger)
        spent = ledger.spent()
    for _ in range(2):
        with opened(path) as ledger:
            assert ledger.spent() == spent
            assert ledger.reserve("alice", "id of q", plan("q"), COST) == StoredAnswer(b"noisy", receipt)


def test_a_ledger_in_memory_leaves_no_file_and_shares_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with opened(":memory:") as one, opened(":memory:") as other:
        answered(one)
        assert other.spent() == Spent()
        assert one.verify().sequence == 3
    assert list(tmp_path.iterdir()) == []


def test_a_path_may_be_text_or_a_path_and_hold_odd_characters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with opened("a ledger?#%41.db") as ledger:
        answered(ledger)
        ledger.verify()
    with opened(tmp_path / "a ledger?#%41.db") as ledger:
        assert ledger.spent().epsilon_units == units_of(1)


def test_a_link_leads_to_the_same_ledger_and_the_same_anchor(tmp_path):
    with opened(tmp_path / "ledger.db") as ledger:
        answered(ledger)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link.db").symlink_to(tmp_path / "ledger.db")
    with opened(tmp_path / "elsewhere" / "link.db") as ledger:
        assert ledger.spent().epsilon_units == units_of(1)
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1


def test_a_closed_ledger_grants_nothing(place):
    ledger = opened(place)
    hold = ledger.reserve("alice", "1", plan(1), COST)
    ledger.close()
    ledger.close()
    with pytest.raises(Unavailable, match=r"The ledger is closed\. Fix: open it again\."):
        ledger.reserve("alice", "2", plan(2), COST)
    with pytest.raises(Failure, match="Request id: 1"):
        hold.commit(b"noisy")


def test_a_forgotten_ledger_ends_its_thread_but_not_before_its_holds():
    ledger = opened(":memory:")
    thread, hold = ledger._writer._thread, ledger.reserve("alice", "1", plan(1), COST)
    del ledger
    gc.collect()
    assert thread.is_alive()
    assert hold.commit(b"noisy").request_id == "1"
    del hold
    gc.collect()
    thread.join(HANG_SECONDS)
    assert not thread.is_alive()


def test_a_forgotten_ledger_keeps_nobody_waiting_who_holds_what_it_needs_to_end(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = opened(path)
    thread = ledger._writer._thread
    path.with_name(f"{path.name}-wal").unlink()  # such a ledger is closed under a lock of all ledgers
    with files._guard:  # as if the collector had found it here
        del ledger
        gc.collect()
        assert thread.is_alive()
    thread.join(HANG_SECONDS)
    assert not thread.is_alive()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # that it is unwise is what is tested
def test_a_forked_child_is_told_to_open_the_ledger_itself(place):
    with opened(place) as ledger:
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                ledger.close()
                ledger.reserve("alice", "1", plan(1), COST)
            except RuntimeError as error:
                os.write(writer, str(error).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as said:
            assert select.select([said], [], [], HANG_SECONDS)[0], "The child says nothing."
            assert "must be opened again after a fork" in said.read()
        os.waitpid(process, 0)
        answered(ledger)


def test_an_answer_too_large_to_keep_fails_its_own_caller(monkeypatch):
    monkeypatch.setattr("adomnia.ledger.store._MAX_PAYLOAD_BYTES", 3)
    with opened(":memory:") as ledger, pytest.raises(ValueError, match="at most 3 bytes"):
        ledger.reserve("alice", "1", plan(1), COST).commit(b"four")


def test_the_budget_that_decides_is_shown():
    with opened(":memory:", BUDGET, ANALYSTS) as ledger:
        answered(ledger, event=Pure(0.25))
        assert ledger.account("alice").budget == ANALYSTS["alice"]
        assert ledger.account() == ledger.account("alice")
        assert ledger.left("alice").epsilon == Fraction(3, 4)
        assert ledger.spent("alice").epsilon_units == 25 * 10**10


def test_alone_is_alone_between_ledgers_of_one_file_and_free_in_memory(place):
    order = []
    with opened(place) as first, opened(place) as second:
        inside, leave = threading.Event(), threading.Event()

        def hold():
            with first.lock_dataset():
                inside.set()
                leave.wait(HANG_SECONDS)
                order.append("first")

        def follow():
            with second.lock_dataset():
                order.append("second")

        threads = [threading.Thread(target=each) for each in (hold, follow)]
        threads[0].start()
        inside.wait(HANG_SECONDS)
        threads[1].start()
        threads[1].join(0.2)
        assert order == []
        leave.set()
        for thread in threads:
            thread.join(HANG_SECONDS)
    assert order == ["first", "second"]
    if isinstance(place, Path):
        assert place.with_name("ledger.db.lock").stat().st_mode & 0o777 == 0o600
    with opened(":memory:") as ledger, ledger.lock_dataset():
        pass


def test_threads_of_one_process_take_turns_with_the_dataset(place):
    """To PostgreSQL they are one session, which would get the lock again and again."""
    with opened(place) as ledger, ThreadPoolExecutor(4) as threads:
        inside = []

        def enter(_):
            with ledger.lock_dataset():
                inside.append(1)
                time.sleep(0.02)
                most = len(inside)
                inside.pop()
            return most

        assert set(threads.map(enter, range(8))) == {1}


def test_a_lock_that_cannot_be_made_is_trouble_of_the_ledger(tmp_path, monkeypatch):
    with opened(tmp_path / "ledger.db") as ledger:

        def full(*_):
            raise OSError(28, "No space left on device", "/secret/ledger.db.lock")

        monkeypatch.setattr(os, "open", full)
        with pytest.raises(Unavailable, match="has no room left on its disk"), ledger.lock("question"):
            pass
        monkeypatch.undo()


def test_a_lock_whose_folder_is_gone_is_trouble_of_the_ledger(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with opened(folder / "ledger.db") as ledger:
        folder.rename(tmp_path / "moved")
        with pytest.raises(Unavailable, match="cannot be opened or created"), ledger.lock("question"):
            pass
