"""Loaded by every Python that has this folder in its path: installs the faults that the environment names."""

import os

from kit import faults

if faults.VARIABLE in os.environ:
    faults.install()
