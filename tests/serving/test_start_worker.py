"""How a worker starts."""

from __future__ import annotations

import subprocess
import sys

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
