"""Reads what is computed from rows: expressions, aggregates, keys of groups."""
