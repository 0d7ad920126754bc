"""Hashes that are kept: the same object hashed twice, and what becomes of it in another process."""

import copy
import os
import pickle
import subprocess
import sys

import pytest

from adomnia.privacy.expressions import Column
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.kinds import Text

SEEDS = (1, 2)  # two processes hash the same text differently
FOUND = """
import pickle, sys
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text

known = {Text(("a", "b")), Column("city", Text(("a", "b")))}
if len(sys.argv) > 1:
    sys.exit(not set(pickle.loads(bytes.fromhex(sys.argv[1]))) <= known)
print(pickle.dumps(sorted(known, key=repr)).hex())
"""


def run(seed: int, *arguments: str) -> str:
    """What a process prints whose texts are hashed by a seed; it has to end well."""
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", FOUND, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_what_another_process_hashed_is_found_here():
    run(SEEDS[1], run(SEEDS[0]))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@pytest.mark.parametrize("value", [Text(("a",)), Column("city", Text(("a",)))])
def test_a_copy_is_equal_and_hashed_anew(value, again):
    assert hash(value) == value.__dict__["_hash"]
    copied = again(value)
    assert copied == value
    assert "_hash" not in copied.__dict__
    assert hash(copied) == hash(value)


def test_a_hash_is_computed_once():
    class Counted:
        times = 0

        def __hash__(self) -> int:
            Counted.times += 1
            return 0  # which is kept like any other

    one = hashed_once(Counted)()
    assert (hash(one), hash(one), Counted.times) == (0, 0, 1)
