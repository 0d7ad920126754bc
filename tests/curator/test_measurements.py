"""The record of an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adomnia
from adomnia.curator.measurements import ChangedRoundError, Record, Replayer, digest_round
from adomnia.plans.plan import canonical
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Rows
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from adomnia.statistics.contract import Measure, Measured

SEX = Column("sex", Text(("F", "M")))

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


def measure(cap):
    return Measure(Query(Private("t", cap, ()), (), Rows()), Pure(1))


def recorded(*rounds):
    """The record of rounds of counts, each with as many values as it has measures."""
    record = Record()
    for each in rounds:
        record.add_round(each, tuple(Measured(np.array(7), one.mechanism) for one in each))
    return Record.from_bytes(record.to_bytes())


def test_a_record_says_what_was_measured_in_each_round_and_by_which_version():
    one, two = recorded((measure(1),), (measure(2), measure(3))), recorded((measure(1), measure(2)), (measure(3),))
    assert [len(each.rounds) for each in (one, two)] == [2, 2]
    assert len({*one.rounds, *two.rounds}) == 4
    assert one.version == two.version == adomnia.__version__


@pytest.mark.parametrize(
    "asked",
    [
        [(measure(2),)],
        [(measure(1), measure(1))],
        [(Measure(measure(1).query, Pure(2)),)],
        [(measure(1),), (measure(1),)],
    ],
)
def test_a_round_that_was_not_recorded_is_given_no_value(asked):
    replay = Replayer(recorded((measure(1),)))
    *before, last = asked
    for each in before:
        replay.measure(each)
    with pytest.raises(ChangedRoundError):
        replay.measure(last)


def test_a_round_that_is_not_asked_for_any_more_is_noticed():
    replay = Replayer(recorded((measure(1),), (measure(2),)))
    replay.measure((measure(1),))
    with pytest.raises(ChangedRoundError):
        replay.finish()
    replay.measure((measure(2),))
    replay.finish()
    Replayer(Record([np.array(5)])).finish()  # of the first records nothing is known


def test_a_guess_that_is_another_is_another_round():
    def distances(*counts):
        guess = Guess(0, np.array(counts, dtype=np.int64))
        relation, key = Private("t", 1, (SEX,)), SEX
        return Measure(Query(relation, (), Distances(((key,),), (Candidate((guess,)),))), Pure(1), "exponential")

    assert digest_round((distances(1, 2),)) == digest_round((distances(1, 2),))
    assert digest_round((distances(1, 2),)) != digest_round((distances(2, 1),))


def test_an_array_is_encoded_with_its_shape_and_only_if_it_holds_integers():
    assert canonical(np.array([[1, 2]])) != canonical(np.array([[1], [2]]))
    assert canonical(np.array([1], dtype=np.int32)) == canonical(np.array([1], dtype=np.int64))
    with pytest.raises(TypeError, match="plain data, got ndarray"):
        canonical(np.array([0.5]))
