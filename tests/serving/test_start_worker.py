"""How a worker starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Without arguments a worker ends as soon as it is imported.
STARTED = """
import gc, sys
from adomnia.serving.start_worker import start
imported, looked = len(sys.modules), []
gc.callbacks.append(lambda phase, info: looked.append(phase))
try:
    start()
except IndexError:
    print(len(sys.modules) > imported + 500, len(looked) < 10, gc.isenabled(), gc.get_freeze_count() > 0)
"""


def test_no_garbage_is_looked_for_while_a_worker_is_imported():
    assert subprocess.check_output([sys.executable, "-c", STARTED], text=True) == "True True True True\n"


@pytest.mark.parametrize(("named", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_small_matrices_are_computed_by_one_thread_unless_somebody_wants_more(named, threads):
    source = (
        STARTED.partition("except")[0]
        + "except IndexError:\n    import os\n    print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    others = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    assert subprocess.check_output([sys.executable, "-c", source], text=True, env=others | named) == f"{threads}\n"
