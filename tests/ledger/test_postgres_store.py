"""PostgreSQL as it fails: lost connections, lost replies, servers that hang, end, are full or are not ours."""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial

import pytest

from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger import Hold, Storage, StoredAnswer, postgres_records, postgres_store, writer
from adomnia.ledger.journal import Journal
from adomnia.ledger.owner import declare
from adomnia.ledger.records import StoreError
from adomnia.ledger.requests import SpendRequest, commit, reserve
from kit.postgres import Server, durable_server, server
from kit.waiting import HANG_SECONDS, wait_until
from ledger.proxies import Proxy
from ledger.references import (
    ANALYSTS,
    BUDGET,
    COST,
    PLENTY,
    answered,
    child,
    connect,
    entries,
    list_answers,
    on_another_machine,
    opened,
    plan,
    tamper,
    units_of,
    wait_until_closed,
    wait_until_recovered,
)


def end_sessions(place) -> None:
    """What an administrator, or a network, does to the sessions of a ledger."""
    with closing(connect(place)) as other:
        query = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name LIKE %s"
        other.execute(query, (f"adomnia ledger {place.schema}"[:60] + "%",))


def spend_and_stumble(ledger, name, how):
    """Pay for a question in a transaction to which something happens before its COMMIT."""

    def work(transaction):
        outcome = _reserve(name)(transaction)
        how()
        return outcome

    return ledger._writer.submit(work)


def _reserve(name):
    return partial(reserve, request=SpendRequest("alice", f"id of {name}", plan(name), COST))


def test_a_connection_that_was_lost_while_nobody_paid_is_replaced_unnoticed(shared):
    with opened(shared) as ledger:
        answered(ledger, name="first")
        end_sessions(shared)
        answered(ledger, name="second")
        assert [receipt.request_id for receipt in ledger.answers("alice")] == ["id of first", "id of second"]
        end_sessions(shared)
        assert ledger.count_answers("alice") == 2
        assert ledger.trouble is None
        ledger.verify()


def test_a_connection_lost_before_commit_grants_nothing_and_heals(shared, caplog):
    with opened(shared) as ledger:
        with pytest.raises(Unavailable, match="The ledger cannot be reached in its database"):
            spend_and_stumble(ledger, "cut", partial(end_sessions, shared))
        wait_until_recovered(ledger)
        assert ledger.spent().epsilon_units == 0
        assert isinstance(ledger.reserve("alice", "id of cut", plan("cut"), COST), Hold)
        assert len(entries(shared)) == 2
    told = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(told) == 1
    words = "The ledger cannot be reached in its database: (AdminShutdown|OperationalError), PostgreSQL"
    assert re.fullmatch(words, told[0].getMessage())


def test_an_answer_whose_connection_is_lost_before_commit_is_written_again(shared):
    with opened(shared) as ledger:
        hold = ledger.reserve("alice", "id of q", plan("q"), COST)
        inside, leave = threading.Event(), threading.Event()

        def stumble():
            with pytest.raises(Unavailable):
                spend_and_stumble(ledger, "cut", end)

        def end():
            inside.set()
            leave.wait(HANG_SECONDS)
            end_sessions(shared)

        stumbling = threading.Thread(target=stumble)
        stumbling.start()
        inside.wait(HANG_SECONDS)
        with ThreadPoolExecutor(1) as pool:
            kept = pool.submit(hold.commit, b"noisy")
            leave.set()
            kept.result(HANG_SECONDS)
        stumbling.join(HANG_SECONDS)
        assert ledger.answer("alice", "id of q").payload == b"noisy"
        assert ledger.spent().epsilon_units == units_of(1)


@pytest.fixture
def proxied(shared):
    proxy = Proxy(durable_server())
    yield proxy, replace(shared, url=proxy.url())
    proxy.close()


def cut_at_commit(monkeypatch, proxy, how, number=1):
    """Have the connection lost in the round trip that ends the next transaction."""
    left = [number]

    def reach(name):
        if name == "before-commit" and left:
            left.pop()
            proxy.cut(how)

    monkeypatch.setattr(postgres_store, "failpoint", reach)


@pytest.mark.parametrize("how", ["lose_request", "lose_reply"])
def test_a_commit_whose_reply_is_lost_is_found_out(proxied, monkeypatch, how):
    """The caller is told what became of it, whether the server had heard of it or not; nothing is paid twice."""
    proxy, place = proxied
    with opened(place) as ledger:
        answered(ledger, name="first")
        cut_at_commit(monkeypatch, proxy, how)
        if how == "lose_reply":  # it was done
            hold = ledger.reserve("alice", "id of cut", plan("cut"), COST)
        else:
            with pytest.raises(Unavailable, match="cannot be reached"):
                ledger.reserve("alice", "id of cut", plan("cut"), COST)
            wait_until_recovered(ledger)
            hold = ledger.reserve("alice", "id of cut", plan("cut"), COST)
        assert proxy.done.is_set()
        cut_at_commit(monkeypatch, proxy, how)
        hold.commit(b"noisy")  # found out, or written again
        assert ledger.spent().epsilon_units == units_of(2)
        assert ledger.answer("alice", "id of cut").payload == b"noisy"
        assert place.anchor.read() == ledger.verify()
    assert len(entries(place)) == 5


@pytest.mark.parametrize("how", ["lose_request", "lose_reply"])
def test_a_commit_that_cannot_be_found_out_is_told_as_trouble_and_never_runs_twice(proxied, monkeypatch, how):
    proxy, place = proxied
    monkeypatch.setattr(postgres_store, "_SETTLE_SECONDS", 0.3)
    with opened(place) as ledger:
        cut_at_commit(monkeypatch, proxy, how)
        proxy.refuses = True
        with pytest.raises(Unavailable, match="cannot be reached"):
            ledger.reserve("alice", "id of cut", plan("cut"), COST)
        assert ledger.trouble is not None
        proxy.refuses = False
        wait_until_recovered(ledger)
        if how == "lose_reply":  # paid for, and nobody has the right to run it
            with pytest.raises(Failure):
                ledger.reserve("alice", "id of cut", plan("cut"), COST)
        else:
            assert isinstance(ledger.reserve("alice", "id of cut", plan("cut"), COST), Hold)
        assert ledger.spent().epsilon_units == units_of(1)
        ledger.verify()


def test_a_group_that_writes_nothing_is_not_looked_for(proxied, monkeypatch):
    proxy, place = proxied
    with opened(place) as ledger:
        cut_at_commit(monkeypatch, proxy, "lose_request")
        assert ledger.spent().epsilon_units == 0


@pytest.fixture(scope="module")
def fragile():
    """A server of these tests alone, which they stop."""
    started = Server("max_connections=50")
    yield started
    started.remove()


def test_a_server_that_hangs_is_told_in_time_and_questions_go_on_once_it_does(shared, fragile, monkeypatch):
    made, connect = [], postgres_store.connect
    monkeypatch.setattr(postgres_store, "connect", lambda *at, **how: made.append(connect(*at, **how)) or made[-1])
    with opened(replace(shared, url=fragile.url())) as ledger:
        answered(ledger, name="first")
        fragile.pause()
        try:
            with monkeypatch.context() as hurried:
                hurried.setattr(postgres_store, "_WAIT_SECONDS", 0.5)
                hurried.setattr(postgres_store, "_SETTLE_SECONDS", 0.1)
                hurried.setattr("adomnia.postgres._CONNECT_SECONDS", 2)  # less is not allowed
                for each in made:
                    each.wait = partial(type(each).wait, each, timeout=0.5)
                with pytest.raises(Unavailable, match="cannot be reached"):
                    ledger.reserve("alice", "id of cut", plan("cut"), COST)
        finally:
            fragile.resume()
        wait_until_recovered(ledger)
        answered(ledger, name="cut")
        assert ledger.spent().epsilon_units == units_of(2)
        ledger.verify()


def test_what_was_granted_survives_a_server_that_ends_at_once_again_and_again(shared, fragile):
    place, granted, replies = replace(shared, url=fragile.url()), [], []
    with opened(place, *PLENTY) as ledger:
        going = threading.Event()

        def ask(thread):
            number = 0
            while not going.is_set():
                number += 1
                name = f"{thread} {number}"
                try:
                    hold = ledger.reserve("alice", name, plan(name), COST)
                    granted.append(name)
                    hold.commit(name.encode())
                    replies.append(name)
                except (Unavailable, Failure):
                    time.sleep(0.01)

        with ThreadPoolExecutor(4) as threads:
            asking = [threads.submit(ask, number) for number in range(4)]
            for _ in range(2):
                wait_for_more(replies)
                fragile.stop("immediate")
                fragile.start()
            wait_until_recovered(ledger)
            wait_for_more(replies)
            going.set()
            for each in asking:
                each.result(HANG_SECONDS)
        assert ledger.spent().epsilon_units >= units_of(len(granted))
        kept = {receipt.request_id for receipt in list_answers(ledger)}
        assert set(replies) <= kept
        ledger.verify()


def wait_for_more(replies, number=8):
    enough = len(replies) + number
    wait_until(lambda: len(replies) >= enough)


@pytest.mark.parametrize(
    ("state", "says", "heals"),
    [
        ("53100", "has no room left in its database", True),
        ("53200", "has no room left in its database", True),
        ("57014", "is locked by another program", True),
        ("40001", "is locked by another program", True),
        ("25006", "may not be written", True),
        ("42501", "may not be written", True),
        ("XX000", "met an error that only its log names", True),
    ],
)
def test_an_error_of_the_server_grants_nothing_names_itself_and_ends_with_its_cause(shared, caplog, state, says, heals):
    with opened(shared) as ledger:
        hold = ledger.reserve("alice", "id of q", plan("q"), COST)
        with closing(connect(shared)) as other:
            other.execute(f"""CREATE FUNCTION stumble() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'a secret' USING ERRCODE = '{state}'; END $$""")
            for table in ("entries", "format"):
                other.execute(f"""CREATE TRIGGER stumble BEFORE INSERT OR UPDATE ON {table}
                                  FOR EACH STATEMENT EXECUTE FUNCTION stumble()""")
            with pytest.raises(Unavailable, match=says) as trouble:
                ledger.reserve("alice", "id of cut", plan("cut"), COST)
            assert trouble.value.__cause__ is None or "secret" not in str(trouble.value.__cause__)
            with ThreadPoolExecutor(1) as pool:
                kept = pool.submit(hold.commit, b"noisy")  # which waits for a while
                time.sleep(0.1)
                for table in ("entries", "format"):  # one at a time: who locks both may meet somebody who does so too
                    other.execute(f"DROP TRIGGER stumble ON {table}")
                kept.result(HANG_SECONDS)
        wait_until_recovered(ledger)
        assert ledger.spent().epsilon_units == units_of(1)
        assert isinstance(ledger.reserve("alice", "id of cut", plan("cut"), COST), Hold)
        ledger.verify()
    assert "secret" not in caplog.text


def test_other_writers_are_waited_for_but_not_for_ever(shared, monkeypatch):
    monkeypatch.setitem(postgres_store._SETTINGS, "lock_timeout", "100ms")
    with opened(shared) as ledger, closing(connect(shared)) as other:
        number = postgres_store.lock_number(shared.schema)
        other.execute("SELECT pg_advisory_lock(%s)", (number,))
        with pytest.raises(Unavailable, match="is locked by another program"):
            ledger.reserve("alice", "1", plan(1), COST)
        other.execute("SELECT pg_advisory_unlock(%s)", (number,))
        wait_until_recovered(ledger)
        assert isinstance(ledger.reserve("alice", "1", plan(1), COST), Hold)


def test_a_writer_that_hangs_in_a_transaction_loses_its_turn(shared, monkeypatch, tmp_path):
    with monkeypatch.context() as hurried:
        hurried.setattr(postgres_store, "_IDLE_SECONDS", 1)
        frozen = opened(shared)
    with frozen:
        with opened(on_another_machine(shared, tmp_path / "other")) as ledger:
            inside, leave = threading.Event(), threading.Event()

            def hang():
                inside.set()
                leave.wait(HANG_SECONDS)

            with ThreadPoolExecutor(1) as pool:
                stuck = pool.submit(spend_and_stumble, frozen, "stuck", hang)
                inside.wait(HANG_SECONDS)
                answered(ledger)
                leave.set()
                with pytest.raises(Unavailable, match="cannot be reached"):
                    stuck.result(HANG_SECONDS)
        wait_until_recovered(frozen)
        assert frozen.spent().epsilon_units == units_of(1)
        frozen.verify()


@pytest.mark.parametrize("moment", ["begin", "commit"])
def test_a_process_that_is_stopped_within_a_round_trip_keeps_nobody_for_ever(shared, monkeypatch, tmp_path, moment):
    """No timeout of the server counts there; whoever waited in vain ends that session, and no stale view is written."""
    monkeypatch.setattr(postgres_store, "_HUNG_SECONDS", 0.3)
    monkeypatch.setitem(postgres_store._SETTINGS, "lock_timeout", "500ms")
    opened(shared).close()
    stopped = child("stop_within", shared, moment)
    assert stopped.stdout.readline() == "stopping\n"
    try:
        with opened_patiently(on_another_machine(shared, tmp_path / "other")) as ledger:
            granted = 0
            deadline = time.monotonic() + HANG_SECONDS
            while granted < 98 and time.monotonic() < deadline:
                with suppress(Unavailable):
                    granted += isinstance(ledger.reserve("alice", f"id {granted}", plan(granted), COST), Hold)
            assert granted == 98
            os.kill(stopped.pid, signal.SIGCONT)
            said, _ = stopped.communicate(timeout=HANG_SECONDS)
            assert said.count("granted") == 2
            assert ledger.spent().epsilon_units == units_of(100)
            ledger.verify()
    finally:
        stopped.kill()
        stopped.wait(HANG_SECONDS)


def test_a_host_that_hangs_loses_its_turn_before_others_stop_waiting_for_it():
    assert postgres_store._HUNG_SECONDS < postgres_store._LOCK_SECONDS <= writer._ANSWER_SECONDS


def test_a_slow_host_that_keeps_nobody_waiting_is_not_taken_for_one_that_hangs(shared, monkeypatch):
    """One that is slow at every payment would never pay again, and lose the answers that are paid for."""
    monkeypatch.setattr(postgres_store, "_HUNG_SECONDS", 0.5)
    with opened(shared) as ledger:
        with suppress(Unavailable):
            spend_and_stumble(ledger, "slow", partial(time.sleep, 1))
        assert ledger.trouble is None
        assert ledger.spent().epsilon_units == units_of(1)


def test_a_writer_that_waited_for_its_turn_is_not_taken_for_one_that_hangs_once_it_has_it(shared, monkeypatch):
    """Where a host hangs, others begin to wait together: each would end the one that got the lock before it."""
    monkeypatch.setattr(postgres_store, "_HUNG_SECONDS", 1)
    opened(shared).close()
    take, number = "SELECT pg_advisory_xact_lock(%s)", (postgres_store.lock_number(shared.schema),)
    with (
        closing(shared.open_store()) as impatient,
        closing(connect(shared)) as before,
        closing(connect(shared)) as waiting,
    ):

        def ask(query):
            return impatient._connection.execute(query, (waiting.info.backend_pid,)).fetchone()[0]

        before.execute("BEGIN")
        before.execute(take, number)
        waiting.execute("BEGIN")
        with ThreadPoolExecutor(1) as pool:
            turn = pool.submit(waiting.execute, take, number)
            age = "SELECT clock_timestamp() - query_start > '2s' AND state = 'active' FROM pg_stat_activity"
            wait_until(lambda: ask(f"{age} WHERE pid = %s"))
            before.execute("ROLLBACK")
            turn.result(HANG_SECONDS)
        wait_until(lambda: ask("SELECT wait_event_type = 'Client' FROM pg_stat_activity WHERE pid = %s"))
        since = ask("SELECT state_change FROM pg_stat_activity WHERE pid = %s")
        ended = impatient._end_hung()
        idle = impatient._connection.execute("SELECT clock_timestamp() - %s", (since,)).fetchone()[0]
        assert not ended or idle.total_seconds() > postgres_store._HUNG_SECONDS  # it has hung since on a busy machine


def test_an_answer_that_is_paid_for_is_kept_while_another_host_is_stopped_with_the_lock(shared, tmp_path):
    with opened(shared) as ledger:
        hold = ledger.reserve("alice", "id of q", plan("q"), COST)
        stopped = child("stop_within", on_another_machine(shared, tmp_path / "other"), "begin")
        try:
            assert stopped.stdout.readline() == "stopping\n"
            with closing(connect(shared)) as other:
                wait_until(lambda: other.execute(HUNG, (shared.schema,)).fetchone())
            failures = []
            try:
                hold.commit(b"noisy")
            except Failure as failure:
                failures.append(failure)
            assert failures == []
            assert ledger.answer("alice", "id of q").payload == b"noisy"
        finally:
            stopped.kill()
            stopped.communicate(timeout=HANG_SECONDS)


HUNG = """
    SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND state = 'active' AND wait_event_type = 'Client'
        AND application_name LIKE 'adomnia ledger ' || %s || '%%'
"""


def opened_patiently(place):
    """Open a ledger whose lock somebody may still have: whoever waited for it in vain ends that."""
    made = []

    def is_opened():
        with suppress(Unavailable):
            made.append(opened(place))
        return made

    wait_until(is_opened)
    return made[0]


def test_a_transaction_that_the_server_had_given_up_is_not_taken_for_done(shared):
    with opened(shared) as ledger:

        def break_it(transaction):
            with pytest.raises(Exception, match="division"):
                transaction.records.connection.execute("SELECT 1 / 0")

        with pytest.raises(Unavailable, match="cannot be reached"):
            ledger._writer.submit(break_it)
        wait_until_recovered(ledger)
        answered(ledger)


def test_a_server_that_does_not_wait_for_its_disk_is_refused(shared):
    with pytest.raises(Refusal, match=r"is on a PostgreSQL whose fsync is off, with which entries can be lost"):
        opened(replace(shared, url=server().url()))
    assert not shared.anchor.exists()


def test_a_pooler_that_forgets_settings_is_refused(shared, monkeypatch):
    """What it shares among connections are their locks, too."""
    monkeypatch.setattr(postgres_store, "_SETTINGS", {})
    with pytest.raises(Refusal, match="is behind a pooler that does not pass on the settings of a connection"):
        opened(shared)
    assert not shared.anchor.exists()


ODD = {
    "default_transaction_isolation": "'repeatable read'",
    "default_transaction_read_only": "on",
    "statement_timeout": "1",
    "lock_timeout": "1",
    "idle_in_transaction_session_timeout": "1",
    "search_path": "''",
    "client_encoding": "'SQL_ASCII'",
    "bytea_output": "'escape'",
    "synchronous_commit": "off",
}


def test_settings_of_a_role_change_nothing(shared):
    """With its isolation a transaction would see what was there before it had its turn."""
    role = f"odd_{shared.schema}"
    with closing(connect(shared)) as other:
        other.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
        for name, value in ODD.items():
            other.execute(f"ALTER ROLE {role} SET {name} = {value}")
    place = replace(shared, url=shared.url.replace("postgres@", f"{role}@"))
    with opened(place) as first, opened(place) as second, ThreadPoolExecutor(16) as threads:

        def spend(number):
            try:
                hold = (first, second)[number % 2].reserve("alice", str(number), plan(number), COST)
            except Refusal:
                return False
            hold.commit(bytes(range(256)))
            return True

        assert sum(threads.map(spend, range(120))) == 100
        assert first.answer("alice", first.answers("alice")[0].request_id).payload == bytes(range(256))
        assert second.verify() == first.verify()
        assert first.trouble is second.trouble is None


def test_commits_wait_for_the_disk_whatever_the_server_and_the_role_say(shared):
    with closing(connect(shared)) as other:
        other.execute("ALTER DATABASE postgres SET synchronous_commit = off")
        try:
            with opened(shared) as ledger:
                asked = "SELECT pg_catalog.current_setting('synchronous_commit')"
                show = lambda transaction: transaction.records.connection.execute(asked).fetchone()  # noqa: E731
                assert ledger._writer.submit(show) == ("on",)
        finally:
            other.execute("ALTER DATABASE postgres RESET synchronous_commit")


def test_a_server_that_is_not_there_is_unavailable(shared, tmp_path):
    with pytest.raises(Unavailable, match=r"The ledger cannot be reached in its database\. Fix: see that PostgreSQL"):
        opened(replace(shared, url=f"postgresql://nobody@/nowhere?host={tmp_path}"))


def test_a_role_without_rights_is_told(shared):
    with closing(connect(shared)) as other:
        other.execute("DROP ROLE IF EXISTS poor")
        other.execute("CREATE ROLE poor LOGIN")
    poor = replace(shared, url=shared.url.replace("postgres@", "poor@"))
    with pytest.raises(Unavailable, match="may not be written"):
        opened(poor)
    shared.anchor.remove()
    opened(shared).close()
    with pytest.raises(Unavailable, match="may not be written"):
        opened(poor)


def test_another_programs_schema_is_left_alone(shared):
    with closing(connect(shared)) as other:
        other.execute(f"CREATE SCHEMA {shared.schema}")
        with pytest.raises(Refusal, match=f"cannot be in the schema {shared.schema}, which is another program's"):
            opened(shared)
        other.execute("CREATE TABLE format (application text, version integer, dataset text)")
        other.execute("INSERT INTO format VALUES ('theirs', 1, 'test')")
        with pytest.raises(Refusal, match="which is another program's"):
            opened(shared)
    assert not shared.anchor.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("version = 2", "The ledger has format 2, not 1"),
        ("dataset = 'other'", "belongs to the dataset 'other', not to 'test'"),
    ],
)
def test_another_version_and_another_dataset_are_refused(shared, change, says):
    opened(shared).close()
    tamper(shared, f"UPDATE format SET {change}")
    with pytest.raises(Refusal, match=says):
        opened(shared)


def test_entries_stay_as_they_are(shared):
    with opened(shared) as ledger:
        answered(ledger)
    for change in ("DELETE FROM entries", "UPDATE payloads SET payload = ''", "TRUNCATE entries"):
        with closing(connect(shared)) as other, pytest.raises(Exception, match="append only"):
            other.execute(change)


def test_an_older_database_is_noticed_by_every_machine_that_knows_more(shared, tmp_path):
    with opened(shared) as ledger:
        answered(ledger, name="first")
    other = on_another_machine(shared, tmp_path / "other")
    with opened(shared) as ledger, opened(other) as there:
        answered(there, name="second")
        answered(ledger, name="third")
        assert there.spent().epsilon_units == units_of(3)
        tamper(shared, "DELETE FROM entries WHERE sequence > 5")
        for known in (ledger, there):
            with pytest.raises(Unavailable, match="lost or changed entry 7"):
                known.reserve("alice", "next", plan("next"), COST)
            wait_until_closed(known)
    for place in (shared, other):
        with pytest.raises(Refusal, match="ends at entry 5, but its anchor remembers entry 7"):
            opened(place)


def test_a_schema_that_is_gone_is_refused(shared):
    with opened(shared) as ledger:
        answered(ledger)
        with closing(connect(shared)) as other:
            other.execute(f"DROP SCHEMA {shared.schema} CASCADE")
        with pytest.raises(Unavailable):
            ledger.reserve("alice", "1", plan(1), COST)
        wait_until_closed(ledger)
        with pytest.raises(Unavailable, match="is empty, but its anchor remembers entries"):
            ledger.reserve("alice", "1", plan(1), COST)
    with pytest.raises(Refusal, match="is empty, but its anchor remembers entries"):
        opened(shared)


def test_entries_that_are_found_by_something_else_than_they_say_are_noticed_by_verifying(shared):
    with opened(shared) as ledger:
        answered(ledger)
        tamper(shared, "UPDATE entries SET request_id = 'theirs' WHERE sequence = 2")
        with pytest.raises(Refusal, match="has an entry 2 whose columns do not match its text"):
            ledger.verify()
        tamper(shared, "UPDATE entries SET body = 'x' WHERE sequence = 2")
        with pytest.raises(Refusal, match="has an entry 2 whose columns do not match its text"):
            ledger.verify()


def test_an_entry_that_cannot_be_read_follows_nothing(shared):
    with opened(shared) as ledger:
        for name in ("first", "second"):
            answered(ledger, name=name)
        tamper(shared, "UPDATE entries SET body = '{' WHERE sequence = 3")
        with pytest.raises(Refusal, match="entry 3 does not follow from the one before it"):
            ledger.reserve("alice", "id of first", plan("first"), COST)


def test_a_machine_that_does_not_know_the_ledger_joins_it_first(shared, tmp_path):
    with opened(shared) as ledger:
        answered(ledger)
    new = replace(shared, folder=tmp_path / "new")
    new.folder.mkdir()
    with pytest.raises(Refusal, match=r"of test has entries, and this machine has no anchor of it.*ledger join"):
        opened(new)
    assert new.join() == shared.anchor.read() == new.anchor.read()
    with opened(new) as ledger:
        answered(ledger, name="there")
    assert shared.anchor.read() != new.anchor.read()
    assert shared.join() == new.anchor.read()
    assert shared.anchor.read() != new.anchor.read()  # it knew the ledger, and still does
    tamper(shared, "DELETE FROM entries WHERE sequence > 3")
    with pytest.raises(Refusal, match="ends at entry 3, but its anchor remembers entry 5"):
        new.join()


def test_a_machine_may_come_between_the_tables_and_the_first_entry(shared, tmp_path):
    first = shared.open_store()
    first.create()
    first.close()
    new = replace(shared, folder=tmp_path / "new")
    new.folder.mkdir()
    with opened(new) as ledger:
        answered(ledger)
    with opened(shared) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)


def test_a_machine_that_was_away_reads_everything_that_others_wrote(shared, tmp_path):
    with opened(shared, *PLENTY) as ledger:
        away = on_another_machine(shared, tmp_path / "other")
        with opened(away, *PLENTY) as other, ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda number: answered(other, name=number), range(200)))
        answered(ledger, name="after a long time")
        assert ledger.spent().epsilon_units == units_of(201)
        assert len(list_answers(ledger)) == 201
        assert len(ledger.latest_answers("alice", 7)) == 7
        assert isinstance(ledger.reserve("alice", "again", plan(3), COST), StoredAnswer)
        ledger.verify()


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_no_table_can_hold_fail_nobody_else(shared, name):
    with opened(shared) as ledger:
        with pytest.raises(Refusal, match="is not in the catalog"):
            ledger.reserve(name, "1", plan(1), COST)
        assert ledger.find_answer(name, "1", plan(1)) is None
        assert ledger.receipt("alice", name) is None
        answered(ledger)


def test_large_answers_of_one_group_go_in_statements_that_the_server_takes(shared, monkeypatch):
    """In one statement they would be more than it takes, and the group would fail with them again and again."""
    monkeypatch.setattr(postgres_records, "_MOST_WAITING_BYTES", 1000)
    with opened(shared) as ledger:
        holds = [ledger.reserve("alice", f"id {number}", plan(number), COST) for number in range(10)]
        sent = []

        def keep(transaction):
            connection = transaction.records.connection
            execute = connection.execute
            with monkeypatch.context() as patch:
                patch.setattr(connection, "execute", lambda *call: (sent.append(repr(call)), execute(*call))[1])
                for hold in holds:
                    commit(transaction, hold.receipt, b"x" * 400 + hold.receipt.plan)

        ledger._writer.submit(keep, urgent=True)
        assert max(map(len, sent)) < 5000
        assert len(sent) > 3
        ledger.verify()
        assert ledger.count_answers("alice") == 10


def test_errors_of_opening_close_what_was_opened(shared):
    journal = Journal(shared.open_store())
    journal.open(partial(declare, dataset=BUDGET, analysts=ANALYSTS))
    journal.close()
    with pytest.raises(StoreError), journal._store.read():
        pass


def test_what_nobody_foresaw_is_looked_up_when_it_is_needed(shared):
    request = SpendRequest("alice", "id", plan("q"), COST, storage=Storage(1, 1))
    with opened(shared) as ledger:
        ledger._writer.submit(partial(reserve, request=request))
        with pytest.raises(Refusal, match="alice has 0 left of 1"):
            ledger._writer.submit(partial(reserve, request=replace(request, request_id="2", plan=plan("other"))))
