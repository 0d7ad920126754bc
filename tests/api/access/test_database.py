"""The port of access control, in both places: what is deferred, and what is undone."""

from __future__ import annotations

import pytest

from adomnia.api.access import Role
from adomnia.api.access.database import Clock
from api.access.trials import HERE, PASSWORD


def test_what_nobody_waits_for_is_deferred_once(tmp_path, time):
    deferred = []
    with time.opened(tmp_path, defer=deferred.append) as access:
        access.add_user("alice", Role.ANALYST, PASSWORD)
        visit, _ = access.sign_in("alice", PASSWORD, HERE)
        time.go_on(120)
        for _ in range(3):
            assert access.identify_browser(visit)
        assert len(deferred) == 2  # the time, and the visit's last use
        for write in deferred:
            write()
        deferred.clear()
        assert access.identify_browser(visit)
        assert deferred == []
        time.go_on(3500)
        assert access.identify_browser(visit)


def test_a_change_that_is_broken_off_changes_nothing(access):
    def break_off():
        with access._database.transaction() as transaction:
            transaction.run("DELETE FROM users")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert len(access.users()) == 2


@pytest.fixture
def clock(time):
    return Clock(lambda: time.wall, lambda: time.monotonic)


def test_time_is_what_the_clock_says(clock, time):
    time.go_on(7)
    assert clock.now(seen=0) == time.wall


def test_time_is_never_before_what_was_seen(clock, time):
    assert clock.now(seen=time.wall + 100) == time.wall + 100


def test_time_goes_on_while_the_clock_is_behind(clock, time):
    start = time.wall
    time.wall -= 5000
    time.go_on(30)
    assert clock.now(seen=0) == start + 30
    assert clock.now(seen=start + 1000) == start + 1000
    time.go_on(30)
    assert clock.now(seen=0) == start + 1030


def test_a_clock_that_is_moved_ahead_is_believed(clock, time):
    time.wall += 5000
    assert clock.now(seen=0) == time.wall
