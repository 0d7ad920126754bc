"""Who may sign in: added, let in, given another role, removed after a second thought; and everybody's tokens."""

from __future__ import annotations

import re
from html import unescape

import pytest

from adomnia.api.access import Role
from console.owner.visitors import EVIL, Visitor
from kit.house import ADDRESS, PASSWORD


def users_of(opened):
    return {user.name: user.role for user in opened.services.access.users()}


def test_everybody_is_listed_with_role_password_and_tokens(shared_house):
    page = Visitor.of(shared_house).read("/owner/people")
    for name in users_of(shared_house):
        assert f">{name}" in page
    assert "not yet" in page
    assert "5 valid" in page


def test_an_auditor_sees_and_changes_nothing_here(shared_house):
    audrey, before = Visitor.of(shared_house, "audrey"), users_of(shared_house)
    assert audrey.see("/owner/people").status_code == 403
    token = shared_house.services.access.tokens("alice")[0].id
    for path, fields in {
        "add": {"name": "eve", "role": "owner"},
        "link": {"name": "olga"},
        "role": {"name": "audrey", "role": "owner"},
        "remove": {"name": "alice", "sure": "yes"},
        "tokens/revoke": {"token": token},
    }.items():
        assert audrey.send(f"/owner/people/{path}", **fields).status_code == 403
    assert users_of(shared_house) == before
    assert not shared_house.services.access.tokens("alice")[0].revoked


@pytest.mark.parametrize("path", ["add", "link", "role", "remove", "tokens/revoke"])
def test_every_change_needs_the_token_of_the_page(shared_house, path):
    before = users_of(shared_house)
    fields = {"name": "audrey", "role": "owner", "sure": "yes", "csrf": "wrong"}
    assert Visitor.of(shared_house).send(f"/owner/people/{path}", **fields).status_code == 403
    assert users_of(shared_house) == before


def test_somebody_new_gets_a_link_that_works_and_is_not_shown_again(own_house):
    olga = Visitor.of(own_house)
    own_house.services.access.remove_user("carol")
    assert "<option>carol</option>" in olga.read("/owner/people")
    reply = olga.send("/owner/people/add", name="carol", role="analyst")
    (link,) = re.findall(rf"{ADDRESS}/sign-in\?code=(\S+)</pre>", reply.text)
    assert link not in olga.see("/owner/people").text
    _, visitor = own_house.services.access.redeem_link(link, PASSWORD, "127.0.0.1")
    assert (visitor.name, visitor.role) == ("carol", Role.ANALYST)
    assert "<option>carol</option>" not in olga.read("/owner/people")


def test_a_new_link_ends_the_older_one(own_house):
    olga = Visitor.of(own_house)
    links = [re.findall(r"code=(\w+)</pre>", olga.send("/owner/people/link", name="bob").text)[0] for _ in range(2)]
    assert len(set(links)) == 2
    own_house.services.access.redeem_link(links[1], PASSWORD, "127.0.0.1")


@pytest.mark.parametrize(
    ("path", "fields", "status", "says"),
    [
        ("add", {"name": "eve", "role": "analyst"}, 400, "The analyst is not in the catalog."),
        ("add", {"name": "", "role": "auditor"}, 400, "printable characters"),
        ("add", {"name": "bob", "role": "auditor"}, 409, "User bob exists already."),
        ("add", {"name": "eve", "role": "king"}, 422, "The role is none."),
        ("link", {"name": "eve"}, 404, "User eve does not exist."),
        ("role", {"name": "olga", "role": "auditor"}, 409, "is the last owner"),
        ("role", {"name": "audrey", "role": "analyst"}, 400, "The analyst is not in the catalog."),
        ("remove", {"name": "olga", "sure": "yes"}, 409, "is the last owner"),
        ("remove", {"name": "eve"}, 404, "User eve does not exist."),
        ("tokens/revoke", {"token": "0" * 16}, 404, "A token of that id does not exist."),
    ],
)
def test_what_is_not_possible_is_said_on_the_page(shared_house, path, fields, status, says):
    before = users_of(shared_house)
    reply = Visitor.of(shared_house).send(f"/owner/people/{path}", **fields)
    assert reply.status_code == status
    assert says in unescape(reply.text)
    assert "Add an auditor" in reply.text
    assert users_of(shared_house) == before


def test_removing_asks_first(own_house):
    olga = Visitor.of(own_house)
    page = olga.send("/owner/people/remove", name="bob").text
    assert "Remove bob?" in page
    assert "bob" in users_of(own_house)
    assert olga.send("/owner/people/remove", name="bob", sure="yes").headers["location"] == "/owner/people?done=removed"
    assert "bob" not in users_of(own_house)
    assert "This is you" in olga.send("/owner/people/remove", name="olga").text


def test_a_role_is_changed_and_a_token_revoked(own_house):
    olga = Visitor.of(own_house)
    assert olga.send("/owner/people/role", name="carol", role="auditor").status_code == 303
    assert users_of(own_house)["carol"] is Role.AUDITOR
    token = own_house.services.access.tokens("alice")[0].id
    assert olga.send("/owner/people/tokens/revoke", token=token).status_code == 303
    assert own_house.query("alice").status_code == 401
    assert "The token is revoked" in olga.read("/owner/people?done=revoked")


def test_nobody_becomes_an_owner_by_a_visit_that_was_left_open(own_house):
    olga, before = Visitor.of(own_house), users_of(own_house)
    for path, fields in {
        "add": {"name": "eve", "role": "owner"},
        "link": {"name": "olga"},
        "role": {"name": "audrey", "role": "owner"},
    }.items():
        refused = olga.send(f"/owner/people/{path}", **fields)
        assert refused.status_code == 403
        assert "is not made here" in refused.text
        assert "code=" not in refused.text
    assert users_of(own_house) == before


def test_names_and_labels_are_shown_escaped(own_house):
    olga = Visitor.of(own_house)
    own_house.services.access.create_token("alice", EVIL, 90)
    assert EVIL not in olga.send("/owner/people/add", name=EVIL, role="auditor").text
    assert EVIL not in olga.send("/owner/people/remove", name=EVIL).text
    page = olga.see("/owner/people").text
    assert EVIL not in page
    assert page.count("&lt;script&gt;alert(1)") >= 2
    assert EVIL not in olga.see(f"/owner/people?done={EVIL}").text
