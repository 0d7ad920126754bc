from __future__ import annotations

import pytest

from adomnia.api.actions.top_ups import read_top_up
from adomnia.console.owner.top_ups import TopUpForm, preview_top_up
from adomnia.errors import Refusal
from kit import hospital
from kit.visits import visit_as_owner


@pytest.fixture
def visit(tmp_path):
    with hospital.curated(hospital.declare(tmp_path), [hospital.person(1)], []) as opened:
        yield visit_as_owner(opened)


@pytest.mark.parametrize("account", ["dataset", "analyst:alice", "analyst:bob"])
@pytest.mark.parametrize("delta", ["", "1e-8"])
def test_what_is_foreseen_is_what_comes(visit, account, delta):
    form = TopUpForm(account, "2", delta, "more")
    before = preview_top_up(visit, form)
    more = read_top_up(visit, form.read())
    visit.curator.ledger.top_up(more.analyst, more.reason, more.epsilon, more.delta)
    after = preview_top_up(visit, form)
    assert before.after == after.before
    assert before.before != after.before


def test_where_the_dataset_has_less_left_that_is_said(visit):
    assert not preview_top_up(visit, TopUpForm("analyst:carol", "1", "", "more")).caution
    assert "The dataset has less left" in preview_top_up(visit, TopUpForm("analyst:carol", "1e7", "", "more")).caution


@pytest.mark.parametrize("account", ["", "alice", "analyst:", "analyst:dataset", "analyst:analyst:alice", "Dataset"])
def test_an_account_is_named_as_the_page_names_it(visit, account):
    with pytest.raises(Refusal, match="is none of this dataset's"):
        preview_top_up(visit, TopUpForm(account, "1", "", "more"))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("-1", ""), ("", "-1e-9"), ("", ""), ("one", ""), ("nan", ""), ("", "1")]
)
def test_what_is_no_amount_is_refused(visit, epsilon, delta):
    with pytest.raises(Refusal, match="needs an amount"):
        preview_top_up(visit, TopUpForm("analyst:alice", epsilon, delta, "more"))
