"""Lines of tables of several levels."""

from __future__ import annotations

import numpy as np

from adomnia.methods.synthesis.geography import Geography
from adomnia.methods.synthesis.level_lines import LevelLines, fill_table, find_places, list_counts, list_whole
from adomnia.methods.synthesis.nested_release import NestedRelease
from adomnia.statistics.products import Attribute

REGION, CITY = Attribute("region", ("south", "west")), Attribute("city", ("Oslo", "Hamar", "Bergen"))
MEMBER = Attribute("member", (False, True, None))
NESTED = Geography((2, 3), ((0, 0, 1),))


def test_every_level_has_its_sums_and_then_its_cells():
    lines = LevelLines(NESTED, (REGION, CITY, MEMBER)).label()
    shown = list(zip(*lines.values(), strict=True))
    assert shown[:4] == [("(all)",) * 3, *[("(all)", "(all)", word) for word in ("false", "true", "(missing)")]]
    assert shown[4:6] == [("south", "(all)", "(all)"), ("west", "(all)", "(all)")]
    assert shown[6] == ("south", "(all)", "false")
    assert shown[12:15] == [("south", "Oslo", "(all)"), ("south", "Hamar", "(all)"), ("west", "Bergen", "(all)")]
    assert shown[-1] == ("west", "Bergen", "(missing)")
    assert len(shown) == 1 + 3 + 2 + 6 + 3 + 9


def test_without_columns_there_are_sums_alone():
    lines = LevelLines(Geography((2, 3)), (REGION, CITY)).label()
    assert len(lines["city"]) == 1 + 2 + 6
    assert lines["city"][3:] == CITY.levels * 2


def test_numbers_stand_beside_their_labels():
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    release = NestedRelease(NESTED, (2,), values, (0.0, 0.0, 4.0), (0.0, 0.0, 1.0))
    found, variances = list_counts(release)
    assert found.tolist() == [21, 9, 12, 10, 11, 4, 6, 5, 6, 3, 7, 11, 1, 2, 3, 4, 5, 6]
    assert variances[0] == 3 * 2 / 1.0  # three places, whose sums of two cells have variance 2 / 1
    assert variances[-1] == (1 / 4 + 1 / 1) / 2
    whole = [np.array([[9, 12]]), np.array([[4, 6], [5, 6]]), values.astype(np.int64)]
    assert list_whole(release, whole) == found.tolist()


def test_tables_are_by_all_levels_and_impossible_places_are_empty():
    release = NestedRelease(NESTED, (2,), np.zeros((3, 2)), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0))
    table = fill_table(release, 2, np.array([[1, 2], [3, 4], [5, 6]]))
    assert table.shape == (2, 3, 2)
    assert table[0, 0].tolist() == [1, 2]
    assert table[1, 2].tolist() == [5, 6]
    assert table[1, 0].tolist() == table[0, 2].tolist() == [0, 0]
    assert find_places(NESTED, 1).tolist() == [[0, 1]]
