"""Loaded by every Python that has this folder in its path: installs the faults that the environment names."""

import os

from adomnia.api.running import worker_states
from kit import faults

if faults.VARIABLE in os.environ:
    faults.install()
    worker_states.HUNG_SECONDS = 4.0  # tests have no time to wait longer, and a busy machine needs seconds for a sign

    from adomnia.serving import supervisor

    supervisor.MOST_DEATHS = 1000  # and have more workers die than any server should see
