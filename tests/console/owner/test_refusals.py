from __future__ import annotations

from adomnia.console.owner.refusals import report_refusals
from adomnia.explaining.refusal_reasons import REASONS


def test_codes_of_one_reason_are_put_together_and_the_most_frequent_is_first():
    report = report_refusals({"budget": 4, "unknown_table": 3, "unknown_column": 2})
    assert [(bar.says, bar.count, bar.share) for bar in report.bars] == [
        ("table or column not known", 5, 1.0),
        ("more than is left", 4, 0.8),
    ]
    assert report.bars[0].codes == "unknown_table, unknown_column"
    assert (report.total, report.beyond, report.advice) == (9, 0, REASONS["unknown_table"])


def test_rare_reasons_are_counted_together():
    report = report_refusals(dict.fromkeys(REASONS, 1))
    assert report.total == len(REASONS) == report.beyond + sum(bar.count for bar in report.bars)
    assert len(report.bars) == 8


def test_no_refusal_needs_no_advice():
    assert report_refusals({}).advice is None
