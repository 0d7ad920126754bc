"""A program on a terminal of its own: what is typed into it, and what it shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kit.commands import IN_BACKGROUND
from kit.waiting import HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


class Typist:
    """Types, and waits for what is shown; terminal codes are left out of it."""

    def __init__(self, process: subprocess.Popen[bytes], line: int) -> None:
        self.process, self._line, self._seen = process, line, b""

    def type(self, text: str) -> None:
        os.write(self._line, text.encode())

    def interrupt(self) -> None:
        """Type Ctrl-C while nothing is read: the terminal is not the program's own, and sends no signal by itself."""
        self.process.send_signal(signal.SIGINT)

    def interrupt_until(self, words: str) -> str:
        """Do so again and again, as people do, until some words are shown."""
        for _ in range(int(HANG_SECONDS)):
            self.interrupt()
            with suppress(AssertionError):
                return self.expect(words, 1.0)
        return self.expect(words)

    def expect(self, words: str, seconds: float = HANG_SECONDS) -> str:
        """All that is shown until some words are, with them."""
        wanted, until = words.encode(), time.monotonic() + seconds
        while wanted not in (plain := _ESCAPES.sub(b"", self._seen)):
            if not select.select([self._line], [], [], max(0.0, until - time.monotonic()))[0]:
                raise AssertionError(f"It did not show {words!r} but: {plain.decode(errors='replace')[-2000:]}")
            self._seen += self._read(plain, words)
        shown, _, self._seen = plain.partition(wanted)
        return (shown + wanted).decode(errors="replace")

    def _read(self, plain: bytes, words: str) -> bytes:
        try:
            return os.read(self._line, 65_536)
        except OSError:  # it ended
            raise AssertionError(f"It ended before {words!r}: {plain.decode(errors='replace')[-2000:]}") from None


@contextmanager
def on_a_terminal(*arguments: object, **environment: str) -> Iterator[Typist]:
    """The command line on a terminal of 40 lines of 120 characters; it is ended with the block.

    A script that ignores Ctrl-C starts it: whoever types is heard all the same.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen(
        [*IN_BACKGROUND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **environment},
    )
    os.close(theirs)
    try:
        yield Typist(process, ours)
    finally:
        process.kill()
        process.wait(HANG_SECONDS)
        os.close(ours)
