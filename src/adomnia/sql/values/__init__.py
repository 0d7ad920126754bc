"""What is computed of rows: expressions, aggregates, keys of groups."""
