"""From our own queries to SQL: nothing of the question's text passes, and no row can make a statement fail."""

from adomnia.engines.render.statements import render, render_rows

__all__ = ["render", "render_rows"]
