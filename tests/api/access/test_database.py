"""The port of access control, in both places: what is deferred, and what is undone."""

from __future__ import annotations

import pytest

from adomnia.api.access import Role
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
