"""From where this is imported on, the process notes which functions are called."""

from __future__ import annotations

import sys

from mutants.swapping import note_call

sys.setprofile(note_call)
