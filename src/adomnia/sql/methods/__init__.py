"""Reads questions whose rows are a method's: `SELECT * FROM lm((SELECT ...), formula => 'y ~ x')`."""
