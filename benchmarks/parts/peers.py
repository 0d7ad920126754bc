"""The grouped question, asked of other packages over the same file, each in an environment of its own.

An environment is made with pip outside of the tree, in the folder for caches, and kept; ADOMNIA_OPENDP and the like may
name a Python that has the package instead. What cannot be installed in time is left out, with a line that says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from shutil import rmtree
from statistics import median
from time import time
from typing import Any

import adomnia
import trips
from parts.engines import CAP, take_turns
from parts.memory import in_a_process_of_its_own, own_peak

PACKAGES = {
    "opendp": ("opendp[polars]",),
    "smartnoise": ("smartnoise-sql", "duckdb"),
    "qrlew": ("pyqrlew", "duckdb", "sqlalchemy"),
    "pipelinedp": ("pipeline-dp", "pyarrow"),
}
OF_FEW_ROWS = {"pipelinedp"}  # its local backend takes Python objects: ten million of them take minutes and gigabytes
QUESTION = trips.QUESTIONS[1].sql
INSTALLING_SECONDS, ASKING_SECONDS = 600, 900
STARTED = "ADOMNIA_BENCH_STARTED"  # what the scripts read when they were started from
_SCRIPTS = Path(__file__).parents[1] / "environments"


def measure_peers(rows: int) -> list[dict[str, Any]]:
    """Ours first, then each peer that there is."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        in_a_process_of_its_own(prepare_trips, folder, rows)
        found = [in_a_process_of_its_own(_ask_ours, folder)]
        _tell(found[0])
        for peer in [each for each in PACKAGES if each not in OF_FEW_ROWS]:
            python = find_python(peer)
            told = ask_peer(python, peer, folder / "trips.parquet") if python else None
            if told:
                found.append({name: told[name] for name in ("name", "seconds", "memory_bytes")})
                _tell(found[-1])
    return [{**each, "rows": rows} for each in found]


def _tell(found: dict[str, Any]) -> None:
    print(f"  {found['name']:<36} {found['seconds']:8.3f} s   {found['memory_bytes'] / 2**20:8,.0f} MiB", flush=True)


def prepare_trips(folder: Path, rows: int) -> None:
    trips.prepare(folder, rows)
    trips.declare(folder, CAP)
    adomnia.open(folder).close()


def _ask_ours(folder: Path) -> dict[str, Any]:
    with adomnia.open(folder) as curator:
        (times,) = take_turns(partial(curator.session("somebody").sql, QUESTION, epsilon=1, replay=False))
    return {"name": f"Ad Omnia {adomnia.__version__}", "seconds": median(times), "memory_bytes": own_peak()}


def find_python(peer: str) -> str | None:
    """A Python that has a peer: the one that is named, or one that is made now; None where it cannot be."""
    named = os.environ.get(f"ADOMNIA_{peer.upper()}")
    if named:
        return named
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "adomnia-bench" / peer
    python, finished = folder / "bin" / "python", folder / "finished"
    if finished.exists():
        return str(python)
    rmtree(folder, ignore_errors=True)
    print(f"  installing {PACKAGES[peer][0]} into an environment of its own ...", flush=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[peer]]
    try:
        for command in ([sys.executable, "-m", "venv", str(folder)], install):
            subprocess.run(command, capture_output=True, check=True, timeout=INSTALLING_SECONDS)  # noqa: S603 - ours
    except (OSError, subprocess.SubprocessError):
        print(f"  LEFT OUT: {peer}, because {PACKAGES[peer][0]} cannot be installed here", flush=True)
        return None
    finished.touch()
    return str(python)


def ask_peer(python: str, peer: str, path: Path) -> dict[str, Any] | None:
    """What the script of a peer tells of the trips in a file; None where it fails."""
    command = [python, str(_SCRIPTS / f"{peer}_trips.py"), str(path), json.dumps(trips.CITIES)]
    try:
        begun = {**os.environ, STARTED: str(time())}
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=ASKING_SECONDS, env=begun)  # noqa: S603
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        print(f"  LEFT OUT: {peer}, which gave no answer within {ASKING_SECONDS} s", flush=True)
        return None
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        print(f"  LEFT OUT: {peer}, which failed", flush=True)
        return None
    return told
