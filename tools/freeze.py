"""Writes what tests hold frozen into tests/fixtures/frozen: all of it, or the things that are named."""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from kit.frozen.records import FOLDER, file_of, load, tell_differences, write  # noqa: E402 - with the path above
from kit.frozen.registry import ADDRESSES, find  # noqa: E402


def main(names: list[str]) -> None:
    """Write the things of these names, or all, and print what changed."""
    if unknown := [name for name in names if name not in ADDRESSES]:
        sys.exit(f"Nothing frozen is called {', '.join(unknown)}. Fix: name some of {', '.join(ADDRESSES)}.")
    FOLDER.mkdir(exist_ok=True)
    for name in names or ADDRESSES:
        began, kept, found = process_time(), load(name), find(name)
        file_of(name).write_text(write(found), encoding="utf-8")
        print(f"{name}: {len(found)} records, {process_time() - began:.1f} seconds of work")
        print(tell_differences(name, kept, found) or "Nothing changed.", end="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
