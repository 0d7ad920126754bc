from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.contract import BadArgument
from kit.analyses import frame
from kit.hypotheses import FRAME, H, K
from kit.trials import (
    NO_NOISE,
    PRICES,
    answer,
    build,
    most_rejected,
    read_p_value,
    share_covered,
    share_rejected,
    share_rejected_naively,
)

ROWS = frame({}, {"a": tuple("uvw"), "b": tuple("pqrs"), "one": ("only",), "many": tuple(map(str, range(400)))})
A, B = ROWS.factors["a"], ROWS.factors["b"]
TEST = build("chi_square_test", ROWS, column=A, other=B)
TRIALS = 40


def draw(random, rows=200, bound=0.0, chances=(0.1, 0.3, 0.6)):
    first = random.choice(np.array(A.levels, dtype=object), rows, p=chances)
    second = random.choice(np.array(B.levels, dtype=object), rows)
    partner = np.array([dict(zip("uvw", "pqr", strict=True))[each] for each in first], dtype=object)
    return {"a": first, "b": np.where(random.random(rows) < bound, partner, second).astype(object)}


def count(data):
    return np.array([[((data["a"] == a) & (data["b"] == b)).sum() for b in B.levels] for a in A.levels])


def test_without_noise_it_is_pearsons_test():
    data = draw(np.random.default_rng(4), 400, 0.1)
    table, theirs = answer(TEST, NO_NOISE, data), stats.chi2_contingency(count(data))
    assert table.facts["statistic"]()[0] == pytest.approx(theirs.statistic, rel=1e-6)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.02)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("chances", [(0.1, 0.3, 0.6), (0.0, 0.0, 1.0)], ids=str)
def test_it_keeps_its_level_also_where_values_never_occur(price, chances):
    drawn = partial(draw, chances=chances)
    assert share_rejected(TEST, PRICES[price], drawn, TRIALS, price) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 1, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(TEST, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_it_finds_what_is_there():
    assert share_rejected(TEST, PRICES["epsilon = 1"], partial(draw, rows=500, bound=0.4), 20, "power") == 1


def test_pearsons_test_of_noisy_counts_rejects_what_is_true():
    def pearson(noisy):
        table = np.maximum(noisy, 0.5)
        return stats.chi2_contingency(table).pvalue

    rho = PRICES["rho of (1, 1e-6)"]
    assert share_rejected_naively(TEST, rho, draw, pearson, 200) > most_rejected(200)


@pytest.mark.parametrize("price", PRICES)
def test_the_interval_of_cramers_v_covers_it(price):
    drawn = partial(draw, rows=800, bound=0.4)
    exact = count(draw(np.random.default_rng(1), 200_000, 0.4)) / 200_000
    expected = exact.sum(axis=1, keepdims=True) * exact.sum(axis=0)
    truth = float(np.sqrt(((exact - expected) ** 2 / expected).sum() / 2))
    assert 1 - share_covered(TEST, PRICES[price], drawn, truth, TRIALS) <= most_rejected(TRIALS, 0.07)


def test_what_cannot_be_is_refused():
    with pytest.raises(BadArgument, match="the same as column"):
        build("chi_square_test", ROWS, column=A, other=A)
    with pytest.raises(BadArgument, match="one has one"):
        build("chi_square_test", ROWS, column=A, other=ROWS.factors["one"])
    with pytest.raises(BadArgument, match="1200 cells"):
        build("chi_square_test", ROWS, column=A, other=ROWS.factors["many"])


def test_the_interval_covers_where_values_are_rare():
    """60 trials that miss 7%: a false alarm in 1e-6. Who divides noise by what is expected says V = 1 of nearly all."""
    alone = np.outer([0.02, 0.08, 0.9], [0.5, 0.3, 0.15, 0.03, 0.015, 0.005])
    joint = 0.2 * alone + 0.8 * alone.sum(axis=1, keepdims=True) * np.eye(3, 6)
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    truth = float(np.sqrt(((joint - expected) ** 2 / expected).sum() / 2))

    def drawn(random):
        cells = random.choice(18, 2000, p=joint.ravel())
        rows, columns = (np.array(factor.levels, dtype=object) for factor in (H, K))
        return {"h": rows[cells // 6], "k": columns[cells % 6]}

    rare = build("chi_square_test", FRAME, column=H, other=K)
    assert 1 - share_covered(rare, PRICES["rho of (1, 1e-6)"], drawn, truth, 60) <= most_rejected(60, 0.07)


def test_a_note_says_that_rare_values_are_lost_in_noise():
    few, many = (answer(TEST, PRICES["rho of (1, 1e-6)"], draw(np.random.default_rng(1), rows)) for rows in (100, 9000))
    assert "lost in the noise" in " ".join(few.notes)
    assert "lost in the noise" not in " ".join(many.notes)
