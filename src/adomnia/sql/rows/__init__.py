"""Which rows a question is about: FROM, joins, subqueries, one person's own rows."""
