from __future__ import annotations

import pytest
from pydantic import ValidationError

from adomnia.api.access import Role, Token, TokenState, User
from adomnia.api.models import NewUser, TokenReply, UserReply, link_record


def test_times_are_written_for_people():
    token = Token("1", "alice", "laptop", 0.0, 86_400.0, revoked=False, state=TokenState.VALID)
    assert TokenReply.record(token) == {
        "id": "1",
        "label": "laptop",
        "created": "1970-01-01T00:00:00+00:00",
        "expires": "1970-01-02T00:00:00+00:00",
        "revoked": False,
        "state": "valid",
    }
    assert TokenReply.record(Token("1", "alice", "", 0.0, None, True, TokenState.REVOKED))["expires"] is None
    user = UserReply.record(User("alice", Role.ANALYST, has_password=True, created=1.5))
    assert user == {"name": "alice", "role": "analyst", "has_password": True, "created": "1970-01-01T00:00:01+00:00"}


def test_a_link_leads_to_the_page():
    assert link_record("link_1_2") == {"path": "/sign-in?code=link_1_2", "code": "link_1_2"}


def test_a_role_is_one_of_three():
    assert NewUser.model_validate({"name": "a", "role": "owner"}).role is Role.OWNER
    for role in ("king", 1, None, ["owner"]):
        with pytest.raises(ValidationError):
            NewUser.model_validate({"name": "a", "role": role})
