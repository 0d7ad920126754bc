from __future__ import annotations

from adomnia.console.releases.pairs import assess, draw_pairs
from adomnia.console.releases.release_lines import open_for
from console.ask.visiting import visiting


def test_every_pair_has_a_cell_and_the_title_fits_above_few(publisher):
    with visiting(publisher) as visit:
        drawable = draw_pairs(open_for(visit, "sexes").quality())
    assert drawable.rows == 9
    assert drawable.figure["kind"] == "heat"
    assert len(drawable.figure["title"]) < 30


def test_a_release_is_looked_at_once_and_each_has_a_report_of_its_own(publisher):
    with visiting(publisher) as visit:
        first, again, other = (assess(open_for(visit, name)) for name in ("sexes", "SEXES", "apart"))
    assert first is again
    assert (first.release, other.release) == ("sexes", "apart")
