import pytest

import adomnia
from adomnia.methods.parts.describe.inference import describe_inference, read_inference
from kit.analyses import frame


def test_population_is_refused_where_a_person_has_several_rows_and_the_data_is_not():
    several = frame({"x": (0, 1)}, rows_per_person=3)
    with pytest.raises(adomnia.Refusal) as refused:
        read_inference(several, {"inference": "population"}, "summary")
    assert refused.value.code == "rows_per_person"
    assert "inference => 'data'" in refused.value.fix
    assert read_inference(several, {"inference": "data"}, "summary") is False
    assert read_inference(frame({"x": (0, 1)}), {"inference": "population"}, "summary") is True


def test_each_is_said_in_words():
    assert "sample" in describe_inference(population=True)
    assert "data" in describe_inference(population=False)
