"""Reads which rows a question is about: FROM, joins, subqueries, and aggregates of each person's own rows."""
