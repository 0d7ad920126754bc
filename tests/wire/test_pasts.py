from __future__ import annotations

import json
from dataclasses import replace

from adomnia.wire.pasts import PastsReply, pasts_record


def test_what_was_paid_for_arrives_as_it_left(bob):
    bob.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, request_id="one")
    bob.batch(["SELECT COUNT(*) AS n FROM people", "SELECT AVG(age) AS a FROM people"], rho=0.1, request_id="two")
    pasts = bob.answers()
    record = json.loads(json.dumps(pasts_record(pasts)))
    found = [each.past() for each in PastsReply.model_validate(record, strict=True).answers]
    assert found == [replace(past, receipt=replace(past.receipt, asked="")) for past in pasts]
    assert record["answers"][-1]["questions"][1] == "SELECT AVG(age) AS a FROM people"
    assert (record["next"], pasts_record([])["next"]) == ("two", None)
