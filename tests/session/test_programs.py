"""A function in a process of its own: a number, or none."""

from __future__ import annotations

import os
import sys
import time
from decimal import Decimal
from fractions import Fraction
from math import inf, isnan
from pathlib import Path

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.session.programs import check_platform, run_program
from kit.waiting import HANG_SECONDS, wait_until

SEEN = []


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (3, 3.0),
        (2.5, 2.5),
        (True, 1.0),
        (Decimal("0.5"), 0.5),
        (Fraction(1, 4), 0.25),
        (np.float32(2), 2.0),
        (inf, inf),
    ],
)
def test_a_number_of_any_kind_is_told(given, number):
    assert run_program(lambda _: given, None, HANG_SECONDS) == number


@pytest.mark.parametrize(
    "given", [None, "7", [1.0], np.array([1.0]), 1j, 10**400], ids=["None", "text", "list", "array", "complex", "huge"]
)
def test_what_is_no_number_is_none(given):
    assert isnan(run_program(lambda _: given, None, HANG_SECONDS))


@pytest.mark.parametrize("fault", [ValueError("secret"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_of_a_function_that_raises_nothing_is_told(fault, capfd):
    def fail(_):
        raise fault

    assert isnan(run_program(fail, None, HANG_SECONDS))
    assert capfd.readouterr() == ("", "")


def test_a_process_that_ends_without_a_word_gives_no_number():
    assert isnan(run_program(lambda _: os._exit(0), None, HANG_SECONDS))


def test_a_slow_function_is_killed_at_its_limit_with_what_it_started(tmp_path):
    def linger(_):
        child = os.fork()
        (tmp_path / ("child" if child == 0 else "parent")).write_text(str(os.getpid()))
        time.sleep(1000)

    for seconds in (0.5, 4.0, 32.0):  # both begin within the first, unless the machine is very busy
        assert isnan(run_program(linger, None, seconds))
        if len(list(tmp_path.iterdir())) == 2:
            break
    pids = [int(each.read_text()) for each in tmp_path.iterdir()]
    assert len(pids) == 2
    wait_until(lambda: not any(map(_is_running, pids)))  # until whoever adopted the child has collected it


def _is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_nothing_is_remembered_from_one_block_to_the_next():
    def count_calls(_):
        SEEN.append(1)
        return len(SEEN)

    assert [run_program(count_calls, None, HANG_SECONDS) for _ in range(3)] == [1.0, 1.0, 1.0]
    assert SEEN == []


def test_where_processes_cannot_be_copied_it_is_refused(monkeypatch):
    monkeypatch.delattr(sys.modules["os"], "fork")
    with pytest.raises(Refusal, match="Linux or macOS"):
        check_platform()
