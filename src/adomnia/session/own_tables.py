"""Tables of one's own behind a curator: their index, their ledger and the folder for what memory does not hold."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.asking.asker import open_dataset
from adomnia.curator.paying import Kernel
from adomnia.engines.limits import NO_MEMORY, USUAL
from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal, Unavailable
from adomnia.messages.references import Reference, Setting
from adomnia.noise import SystemBits
from adomnia.session.ledgers import MEMORY, open_ledger
from adomnia.session.progress import ProgressLine
from adomnia.session.protect import fingerprint, protect_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from adomnia.asking.asker import Dataset
    from adomnia.session.declared import Declared


@dataclass(frozen=True)
class OwnTables:
    """Tables under protection; `opened` lets go of them, and `room` is the folder that is removed with them."""

    dataset: Dataset
    frames: Mapping[str, pa.Table]
    opened: ExitStack
    room: str


def open_tables(
    data: object, public: Mapping[str, object], declared: Declared, ledger: str | Path, spill: str | Path | None
) -> OwnTables:
    """Load tables as they are declared."""
    engine = load_engine()
    protected = protect_tables(data, public, declared, engine.find_facts)
    catalog = protected.catalog
    if ledger != MEMORY:
        catalog = replace(catalog, version=fingerprint(protected.frames))
    room = "" if spill == MEMORY else _make_folder(spill)
    with ExitStack() as opened, ProgressLine() as progress:  # closed again if what follows fails
        opened.callback(remove_folder, room, os.getpid())
        with _explain_memory(room):
            loaded = engine.load(catalog, protected.frames, progress, spill=room)
        opened.callback(loaded.close)
        with refuse_in_python():
            accounts = opened.enter_context(open_ledger(catalog, ledger))
        dataset = open_dataset(Kernel(catalog, loaded, accounts, SystemBits()), progress)
        return OwnTables(dataset, protected.frames, opened.pop_all(), room)


def _make_folder(spill: str | Path | None) -> str:
    """A folder for what does not fit into memory; nobody else may read it."""
    try:
        return tempfile.mkdtemp(prefix="adomnia-", dir=spill)
    except OSError:
        why, fix = "is not a folder that can be written", "name one that is there, with room for the rows"
        raise Refusal(f"spill={str(spill)!r}", why, fix, code="bad_spill") from None


@contextmanager
def _explain_memory(room: str) -> Iterator[None]:
    """Say what helps where tables do not fit."""
    try:
        yield
    except Unavailable as fault:
        if fault.code != NO_MEMORY:
            raise
        why = f"does not fit into the {USUAL.memory} of memory that the engine takes"
        why += ", nor into the folder for what does not fit" if room else ", and nothing may be written to disk"
        fix = "pass spill=FOLDER on a disk with room: rows are written there, unencrypted, until the session is closed"
        raise Refusal("The index of these tables", why, f"{fix}; or fewer columns=[...]", code=NO_MEMORY) from None


def remove_folder(folder: str, owner: int) -> None:
    """Remove a folder in the process that made it: one that was forked from it has the same clean-up to do."""
    if folder and os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def refuse_in_python() -> Iterator[None]:
    """Refuse in the words of `protect`."""
    try:
        yield
    except Refusal as refusal:
        fix = refusal.fix.replace_references(_pass_to_protect)
        raise Refusal(refusal.what, refusal.why, fix, refusal.position, code=refusal.code) from None


def _pass_to_protect(named: Reference) -> Reference:
    """What stands in a catalog is an argument of `protect` here."""
    return replace(named, in_catalog=False) if isinstance(named, Setting) else named
