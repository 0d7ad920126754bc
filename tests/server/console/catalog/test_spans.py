from __future__ import annotations

import tomllib

from adomnia.server.console.catalog.spans import find_spans
from kit import hospital

ODD = """\
"a.b" = 'x # no comment' # a comment = 1
list = [ { inner = 1 }, [2, 3], # of several
  "]" ]
[tables."odd name".columns]
"Education Num" = { type = "integer", lower = -1_0, when = 2020-01-01 12:30:00 }
text = \"\"\"
[not.a.heading]
key = 1
\"\"\"
dotted.key = 1.5
"""


def values_at(text):
    return {path: text[span.start : span.end] for path, span in find_spans(text).pairs.items()}


def test_every_value_of_a_catalog_is_found_where_it_stands():
    content, found = tomllib.loads(hospital.LINKED), values_at(hospital.LINKED)
    assert len(found) > 60
    for path, literal in found.items():
        held = content
        for name in path:
            held = held[name]
        assert tomllib.loads(f"value = {literal}")["value"] == held


def test_odd_spellings_are_told_apart_from_what_they_look_like():
    found = values_at(ODD)
    assert found["a.b",] == "'x # no comment'"
    assert found["tables", "odd name", "columns", "Education Num", "lower"] == "-1_0"
    assert found["tables", "odd name", "columns", "Education Num", "when"] == "2020-01-01 12:30:00"
    assert found["tables", "odd name", "columns", "dotted", "key"] == "1.5"
    assert found["list",].startswith("[ {")
    assert found["list",].endswith('"]" ]')
    assert [path for path, _ in find_spans(ODD).headings] == [("tables", "odd name", "columns")]
