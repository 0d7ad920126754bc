import pytest

from adomnia.methods.parts.describe.rounds import together
from kit.analyses import frame
from kit.describing import EPSILON, build


def flow(name, rounds):
    said = []
    for place in range(rounds):
        said += yield (f"{name}{place}",)
    return said


def test_flows_of_equally_many_rounds_go_side_by_side():
    both = together([flow("a", 2), flow("b", 2)])
    assert next(both) == ("a0", "b0")
    assert both.send((1, 2)) == ("a1", "b1")
    with pytest.raises(StopIteration) as end:
        both.send((3, 4))
    assert end.value.value == [[1, 3], [2, 4]]


def test_a_rehearsal_lists_all_rounds():
    people = frame({"x": (0, 100), "y": (0, 1)})
    rehearsed = build("summary", people).planned_measures(EPSILON)
    assert len(rehearsed) == 2 * 5
    assert sum(each.price.epsilon for each in rehearsed) == 1
