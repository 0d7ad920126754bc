from __future__ import annotations

import re
from html import unescape

import pytest

from adomnia.releases.archive import unpack_archive
from console.ask.visiting import sign_in


@pytest.fixture
def alice(publisher):
    return sign_in(publisher)


def test_the_download_is_the_release_itself(alice):
    reply = alice.get("/releases/SEXES/archive")
    assert reply.headers["content-type"] == "application/zip"
    assert reply.headers["content-disposition"] == 'attachment; filename="sexes.zip"'
    taken = unpack_archive(reply.content)
    assert (taken.name, taken.columns, taken.table.num_rows) == ("sexes", ("sex", "city", "member"), 60)


def test_every_look_of_a_picture_is_drawn_and_kept(alice):
    page = alice.get("/releases/sexes?by=sex").text
    addresses = {unescape(each) for each in re.findall(r'(?:srcset|src)="(/releases[^"]*)"', page)}
    assert len(addresses) == 8  # of counts and of quality
    for address in addresses:
        first, again = alice.get(address), alice.get(address)
        assert first.headers["content-type"] == "image/svg+xml"
        assert first.content == again.content
        assert b"<svg" in first.content


@pytest.mark.parametrize("query", ["theme=pink", "size=huge"])
def test_other_looks_are_refused(alice, query):
    assert alice.get(f"/releases/sexes/figure.svg?{query}").status_code == 422


@pytest.mark.parametrize("part", ["", "/archive", "/figure.svg"])
def test_what_another_analyst_keeps_is_not_there(alice, publisher, part):
    assert alice.get(f"/releases/mine{part}").status_code == 404
    assert sign_in(publisher, "bob").get(f"/releases/mine{part}").status_code == 200


def test_who_is_not_signed_in_sees_none(publisher):
    assert publisher.ask(None, "GET", "/releases").headers["location"].startswith("/sign-in")
