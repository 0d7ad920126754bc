"""The command line, for processes of their own."""

from __future__ import annotations

import sys

# Ctrl-C is ignored by a test run that a script starts with &, and would be by all that it starts.
_BEGIN = "import signal; signal.signal(signal.SIGINT, signal.{}); from adomnia.cli.app import main; main()"
COMMAND = [sys.executable, "-c", _BEGIN.format("default_int_handler")]
IN_BACKGROUND = [sys.executable, "-c", _BEGIN.format("SIG_IGN")]
