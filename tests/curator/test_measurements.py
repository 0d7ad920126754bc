"""The record of an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.curator.measurements import Record, Replayer
from adomnia.privacy.aggregates import Rows
from adomnia.privacy.events import Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.statistics.contract import Measure

_values = st.lists(st.integers(-(2**70), 2**70) | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6)


@given(_values)
def test_a_record_is_read_back_exactly(values):
    small = all(-(2**63) <= value < 2**63 for value in values)
    array = np.array(values, dtype=np.int64 if small else object)
    (again,) = Record.from_bytes(Record([array]).to_bytes()).values
    assert again.tolist() == values
    assert again.dtype == array.dtype


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3), (2, 1, 2)])
def test_a_record_keeps_shapes(shape):
    (again,) = Record.from_bytes(Record([np.ones(shape, dtype=np.int64)]).to_bytes()).values
    assert again.shape == shape


def test_a_replay_answers_in_order_and_with_the_noise_of_the_measure():
    measures = tuple(Measure(Query(Private("t", cap, ()), (), Rows()), Pure(1)) for cap in (1, 2))
    replay = Replayer(Record([np.array(5), np.array(7)]))
    measured = [each for measure in measures for each in replay.measure((measure,))]
    assert [each.values.tolist() for each in measured] == [5, 7]
    assert [each.noise for each in measured] == [measure.mechanism for measure in measures]


def test_a_record_that_is_too_short_is_noticed():
    with pytest.raises(IndexError):
        Replayer(Record()).measure((Measure(Query(Private("t", 1, ()), (), Rows()), Pure(1)),))
