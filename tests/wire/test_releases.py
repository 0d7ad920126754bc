"""What is told of a release travels without loss, and what asks for one is put to a session as it was sent."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from adomnia.releases.facts import ReleaseFacts
from adomnia.releases.store import ReleaseEntry
from adomnia.wire.releases import AskRelease, ReleaseReply, ReleasesReply, entry_of, release_record
from kit.released import QUESTION, make_release


def test_what_is_told_comes_back_as_it_was():
    entry = ReleaseEntry.of(make_release())
    record = json.loads(json.dumps(release_record(entry)))
    ReleasesReply.model_validate({"releases": [record]}, strict=True)
    assert entry_of(ReleaseReply.model_validate(record, strict=True)) == entry


def test_a_release_whose_folder_is_lost_has_no_columns():
    entry = ReleaseEntry("ages", QUESTION, ReleaseFacts(price="rho 1"), (), ())
    assert entry_of(ReleaseReply.model_validate(release_record(entry))) == entry


def test_a_release_is_asked_for_with_all_that_was_sent():
    class Spy:
        def release(self, *arguments, **named):
            return arguments, named

    asked = AskRelease.model_validate_json(
        json.dumps({"name": "ages", "sql": QUESTION, "rho": "0.1", "private": True, "confidence": 0.9})
    )
    arguments, named = asked.put_to(Spy())
    assert arguments == ("ages", QUESTION)
    assert (named["private"], named["confidence"], str(named["rho"])) == (True, 0.9, "0.1")


@pytest.mark.parametrize("extra", [{"progress": 1}, {"name": 5}, {"private": "yes"}])
def test_what_is_not_of_the_form_is_refused(extra):
    with pytest.raises(ValidationError):
        AskRelease.model_validate({"name": "ages", "sql": QUESTION} | extra)
