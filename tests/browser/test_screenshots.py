"""The tool that takes the pictures of the documentation takes none with an empty figure."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def load_tool():
    spec = importlib.util.spec_from_file_location("screenshots", ROOT / "tools" / "screenshots.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_picture_shows_its_figure_and_one_without_it_is_an_error(console, tmp_path, monkeypatch):
    tool = load_tool()
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    with console.visit("alice", "/ask") as page:
        tool.ask(page, "SELECT sex, COUNT(*) AS people FROM people GROUP BY sex", "0.01")
        tool.wait_for_figures(page, expected=True)
        tool.take(page, tmp_path / "whole.png")
        page.locator(tool.FIGURE).first.evaluate("image => { image.style.opacity = '0'; }")
        with pytest.raises(SystemExit, match="empty figure"):
            tool.take(page, tmp_path / "empty.png")
