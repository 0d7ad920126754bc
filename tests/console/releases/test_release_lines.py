from __future__ import annotations

import pytest

from adomnia.api.access import Role, Visitor
from adomnia.api.requests import Visit
from adomnia.console.releases.release_lines import address_of_release, list_lines, open_for
from adomnia.errors import Refusal
from console.ask.visiting import visiting


def names(visit):
    return [line.name for line in list_lines(visit)]


def test_everybody_sees_what_is_published_and_nobody_else_what_somebody_keeps(publisher):
    with visiting(publisher, "alice") as alice, visiting(publisher, "bob") as bob:
        assert names(alice) == ["nobody", "years", "apart", "sexes"]
        assert set(names(bob)) == {*names(alice), "mine"}
        olga = Visit(alice.services, Visitor("olga", Role.OWNER), alice.edition)
        assert names(olga) == names(alice)


def test_a_line_says_how_it_was_made_and_who_may_read_it(publisher):
    with visiting(publisher, "bob") as bob:
        lines = {line.name: line for line in list_lines(bob)}
    sexes, mine = lines["sexes"], lines["mine"]
    assert (sexes.method, sexes.columns, sexes.price) == ("marginals", ("sex", "city", "member"), "epsilon 1")
    assert (sexes.made_by, sexes.version, sexes.readers) == ("alice", "1", "everybody here")
    assert (mine.made_by, mine.readers, mine.private) == ("bob", "you alone", True)


@pytest.mark.parametrize("name", ["mine", "zebra", "../sexes", ""])
def test_what_is_not_there_and_what_is_somebody_elses_cannot_be_told_apart(publisher, name):
    with visiting(publisher, "alice") as alice, pytest.raises(Refusal) as refused:
        open_for(alice, name)
    assert refused.value.code == "unknown_route"
    assert refused.value.why == "is not among the releases"


def test_an_address_holds_any_name():
    assert address_of_release("a/b", "/archive") == "/releases/a%2Fb/archive"
