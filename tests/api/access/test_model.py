"""What is known about people holds no secret."""

from __future__ import annotations

from adomnia.api.access.model import Role, Visitor


def test_a_visitor_does_not_show_what_its_page_has_to_send():
    assert "canary" not in repr(Visitor("alice", Role.ANALYST, csrf="canary"))


def test_roles_are_their_names():
    assert [str(role) for role in Role] == ["owner", "analyst", "auditor"]
