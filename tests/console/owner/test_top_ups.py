from __future__ import annotations

import pytest

from adomnia.console.owner.top_ups import TopUpForm, apply_top_up, preview_top_up
from kit import hospital


@pytest.fixture
def curator(tmp_path):
    with hospital.curated(hospital.declare(tmp_path), [hospital.person(1)], []) as opened:
        yield opened


@pytest.mark.parametrize("account", ["dataset", "analyst:alice", "analyst:bob"])
@pytest.mark.parametrize("delta", ["", "1e-8"])
def test_what_is_foreseen_is_what_comes(curator, account, delta):
    form = TopUpForm(account, "2", delta, "more")
    before = preview_top_up(curator, form)
    apply_top_up(curator, form, before.seen)
    after = preview_top_up(curator, form)
    assert before.after == after.before
    assert before.before != after.before


def test_where_the_dataset_has_less_left_that_is_said(curator):
    assert not preview_top_up(curator, TopUpForm("analyst:carol", "1", "", "more")).caution
    assert "The dataset has less left" in preview_top_up(curator, TopUpForm("analyst:carol", "1e7", "", "more")).caution
