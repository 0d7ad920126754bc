"""Runs the parts of `make test`, one more at once than there are cores, and ends with a table of what became of them.

    python tools/run_parts.py PART ...

Parts are targets of the Makefile. The first of them begin first, and what one printed is shown when it ends.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What judges the findings of others comes after them; it is named last, so that nothing waits behind it.
AFTER = {"coverage": ("test-core", "test-engines")}

SUMMARY = re.compile(r"^=+ .* in [\d.]+s.*=+$", re.MULTILINE)
COUNT = re.compile(r"(\d+) (?:passed|failed|errors?)\b")
TOLD_AGAIN = re.compile(r"^(?:FAILED|ERROR|NOT TESTED)\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class Ended:
    """What became of a part."""

    part: str
    seconds: float
    cpu_seconds: float
    passed: bool
    printed: str

    def __str__(self) -> str:
        tests = sum(int(count) for line in SUMMARY.findall(self.printed) for count in COUNT.findall(line))
        times = f"{self.seconds:>9.0f}{self.cpu_seconds:>9.0f}"
        return f"{self.part:<15}{tests or '-':>7}{times}  {'PASSED' if self.passed else 'FAILED'}"


def main(parts: Sequence[str]) -> int:
    """Run all of them; the status is 0 if all of them passed."""
    started = monotonic()
    ended = list(_run_all(parts))
    printed = "\n".join(each.printed for each in ended)
    cpu_seconds = sum(each.cpu_seconds for each in ended)
    everything = Ended("all", monotonic() - started, cpu_seconds, all(each.passed for each in ended), printed)
    heading = f"{'part':<15}{'tests':>7}{'seconds':>9}{'of CPU':>9}"
    print(heading, *ended, everything, *TOLD_AGAIN.findall(printed), sep="\n")
    return 0 if everything.passed else 1


def _run_all(parts: Sequence[str]) -> Iterator[Ended]:
    running: dict[str, Future[Ended]] = {}
    # One more than there are cores: parts wait for servers, browsers and disks.
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
        for part in parts:
            running[part] = pool.submit(_run, part, [running[each] for each in AFTER.get(part, ()) if each in running])
        for each in as_completed(running.values()):
            print(each.result().printed, flush=True)
            yield each.result()


def _run(part: str, earlier: Sequence[Future[Ended]]) -> Ended:
    wait(earlier)
    started = monotonic()
    command = ["make", "--no-print-directory", part]
    alone = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    with subprocess.Popen(command, env=alone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as made:  # noqa: S603 - of our own names
        assert made.stdout is not None  # noqa: S101 - it is a pipe
        printed = made.stdout.read()
        _, status, used = os.wait4(made.pid, 0)
        made.returncode = os.waitstatus_to_exitcode(status)
    cpu_seconds = used.ru_utime + used.ru_stime  # other than seconds it hardly depends on what else the machine does
    return Ended(part, monotonic() - started, cpu_seconds, made.returncode == 0, printed.decode(errors="replace"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
