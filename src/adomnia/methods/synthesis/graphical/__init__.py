"""Graphical models of a table's columns: fitted to noisy tables, asked for others, and drawn from."""
