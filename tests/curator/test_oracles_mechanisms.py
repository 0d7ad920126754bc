"""What could once be told from how mechanisms fail, and what they cost beside what was named."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest

from adomnia.errors import Failure, Refusal
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.round_numbers import scores
from adomnia.mechanisms.threshold import Threshold
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.losses import loss
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.sql.lower import lower
from kit.hospital import curated, declare, person, visit

MEDIAN = "SELECT MEDIAN(age) AS m FROM people WHERE name = 'alice'"
FOUND = "SELECT diagnosis, {} FROM visits GROUP BY diagnosis"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("mechanisms") / "hospital")


def _status(catalog, rows, epsilon):
    people = [person(k, name="alice", age=40.0) for k in range(rows)]
    with curated(catalog, people, []) as curator:
        try:
            curator.session("alice").sql(MEDIAN, epsilon=epsilon)
        except (Refusal, Failure) as reason:
            return type(reason)
    return None


def _farthest(query, epsilon):
    """The farthest rank asked for, in the integers that ranks are counted in; None where the price buys no choice."""
    try:
        targets = Quantiles.for_query(query, Pure(epsilon)).targets
    except ValueError:
        return None
    _, parts = scores([target.share for target in targets])
    return max(round(each.offset * each.share.denominator * part) for each, part in zip(targets, parts, strict=True))


def _price_for(query, farthest):
    """The largest epsilon at which so far a rank is asked for, or the smallest that buys a choice at all."""
    below, above = 1, 2**120
    while above - below > 1:
        middle = (below + above) // 2
        found = _farthest(query, Fraction(10**9, middle))
        below, above = (middle, above) if found is not None and found < farthest else (below, middle)
    return Fraction(10**9, above if _farthest(query, Fraction(10**9, above)) is not None else below)


@pytest.mark.no_cover
@pytest.mark.parametrize("rows", [2, 4])
def test_no_price_makes_a_quantile_fail_for_some_numbers_of_rows_only(catalog, rows):
    """Ranks grow with 1 / epsilon: near 2**63, whether rank and rows fit into 64 bits would count the rows."""
    (output,) = lower(MEDIAN, catalog).outputs
    _, (row, _) = scores([Fraction(1, 2)] * 2)
    epsilon = _price_for(output.source.query, 2**63 - rows * row)
    assert {_status(catalog, people, epsilon) for people in range(7)} in ({None}, {Refusal})


@pytest.mark.parametrize("epsilon", [1e-19, 1e-22, 1e-26])
def test_a_quantile_for_next_to_nothing_is_refused_and_not_charged(catalog, epsilon):
    assert _status(catalog, 3, epsilon) is Refusal


@pytest.mark.parametrize("payment", [{"epsilon": 1}, {"rho": 1}])
@pytest.mark.parametrize(
    "asked", ["COUNT(*) AS n", "AVG(cost) AS a, SUM(cost) AS s", "AVG(cost) AS a, SUM(cost) AS s, COUNT(*) AS n"]
)
def test_finding_keys_costs_no_more_than_was_named(catalog, asked, payment):
    """SUM is put together from what AVG measures: then one measurement fewer shares the price with the search."""
    with curated(catalog, [], []) as curator:
        quote = curator.session("bob").price(FOUND.format(asked), delta=1e-9, **payment)
    found, (measured,) = quote.event.events[0], quote.event.events[1:]
    if "rho" in payment:
        assert loss(quote.event).rho == 1
    else:
        assert found.epsilon + loss(measured).epsilon == 1


@pytest.mark.parametrize("price", [Approximate(1, 1e-101), Concentrated(1, 1e-60)])
def test_a_delta_too_small_for_any_threshold_is_refused(price):
    """The tail is known to so many digits: below them no threshold would ever be found high enough."""
    with pytest.raises(ValueError, match="delta"):
        Threshold.calibrated(Sensitivity(l1=1), price)


def test_more_effort_finds_keys_too(catalog):
    visits = [visit(k, diagnosis="flu", cost=50.0) for k in range(100)]
    with curated(catalog, [person(k) for k in range(100)], visits) as curator:
        answer = curator.session("bob").sql(FOUND.format("AVG(cost) AS a"), rho=3, delta=1e-9, effort="high")
    assert answer.to_arrow()["diagnosis"].to_pylist() == ["flu"]


def test_an_average_for_next_to_nothing_is_answered_or_refused(catalog):
    """Noise beyond 64 bits is carried in Python integers, which NumPy hands back bare where there are no groups."""
    with curated(catalog, [person(1)], [visit(1, cost=50.0)]) as curator, suppress(Refusal):
        curator.session("alice").sql("SELECT AVG(cost) AS a FROM visits", epsilon=1e-16)
