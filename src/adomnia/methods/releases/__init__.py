"""Releases: tables and rows that are paid for once, published, and good for every later question."""
