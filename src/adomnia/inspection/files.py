"""What files show of tables before there is a catalog: their headers, and how text files are written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from adomnia.engines.registry import load_engine
from adomnia.errors import Refusal
from adomnia.inspection.drafts import FoundTable
from adomnia.inspection.layouts import USUAL, find_layout, is_text_file, text_suffix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.inspection.drafts import Spelling
    from adomnia.inspection.layouts import Layout


def find_tables(folder: Path, files: Sequence[Path]) -> list[FoundTable]:
    """The tables of files, in the order given; each is called after its file, and found from the folder."""
    tables = [_find_table(folder, file) for file in files]
    names = {table.name.lower() for table in tables}
    if len(names) < len(tables):
        raise Refusal("adomnia init", "was given two files of one name", "rename one: tables are called after files")
    return tables


def _find_table(folder: Path, file: Path) -> FoundTable:
    source = Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    name = file.name.removesuffix(".gz").rpartition(".")[0] or file.name
    if not is_text_file(file):
        return FoundTable(name, source, list(load_engine().read_header(file).items()))
    layout = find_layout(file)
    return FoundTable(name, source, [(written, "") for written in layout.header], spelling=_spelling(file, layout))


def _spelling(file: Path, layout: Layout) -> Spelling:
    """What a catalog has to say about the layout of a file: what is not usual in a file of that name."""
    found = {"delimiter": layout.delimiter, "encoding": layout.encoding}
    usual = {"delimiter": USUAL[text_suffix(file)], "encoding": "utf-8"}
    return {key: value for key, value in found.items() if value != usual[key]}
