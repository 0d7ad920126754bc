from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client import values

from adomnia.api.running import dead_counts as module
from adomnia.api.running.dead_counts import add_up_dead, reading_counts
from adomnia.api.running.metrics import Metrics
from adomnia.api.running.request_facts import RequestSummary
from adomnia.api.running.run_folder import FOLDER_VARIABLE, remove_gauges
from adomnia.api.settings import Settings


@pytest.fixture
def count(tmp_path, monkeypatch):
    """Counts of a worker of this number, which has died since."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))

    def work(process, questions):
        value = values.MultiProcessValue(lambda: process)
        monkeypatch.setattr(values, "ValueClass", value)
        metrics = Metrics(Settings(Path("study")))
        for _ in range(questions):
            metrics.count_question("answered")
            metrics.count_request(RequestSummary("GET", "/é", 200, None, 0.01, "r", reads_data=False))
        return metrics

    return work


def read(metrics):
    """All samples that are counted, whatever their order."""
    return sorted(
        (sample.name, sorted(sample.labels.items()), sample.value)
        for family in metrics._collect()
        if family.type != "gauge"
        for sample in family.samples
    )


def test_counts_of_dead_workers_stay_in_two_files_however_many_there_were(count, tmp_path):
    for process in range(1, 8):
        count(process, process)
        remove_gauges(tmp_path, process)
    alive = count(8, 2)
    before = read(alive)
    add_up_dead(tmp_path, [8])
    assert read(alive) == before
    assert alive.read_questions().outcomes == {"answered": 30}
    counted = {path.name for path in tmp_path.glob("*.db") if not path.name.startswith("gauge")}
    assert counted == {f"{kind}_{whose}.db" for kind in ("counter", "histogram") for whose in ("dead", "8")}
    add_up_dead(tmp_path, [8])
    alive.count_question("answered")
    assert alive.read_questions().outcomes == {"answered": 31}


def test_while_somebody_reads_nothing_is_added_up(count, tmp_path):
    first, second = count(1, 1), count(2, 1)
    with reading_counts(tmp_path):
        add_up_dead(tmp_path, [2])
        assert (tmp_path / "counter_1.db").exists()
    add_up_dead(tmp_path, [2])
    assert not (tmp_path / "counter_1.db").exists()
    assert first.read_questions() == second.read_questions()


def test_on_a_full_disk_counts_stay_where_they_are(count, tmp_path, monkeypatch):
    metrics = count(1, 3)
    (tmp_path / "counter_9.db").touch()  # of a worker that was killed at once

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_write", full)
    add_up_dead(tmp_path, [])
    assert metrics.read_questions().outcomes == {"answered": 3}
    monkeypatch.undo()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    add_up_dead(tmp_path, [])
    assert metrics.read_questions().outcomes == {"answered": 3}
