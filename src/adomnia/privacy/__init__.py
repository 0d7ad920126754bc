"""The algebra of privacy: pure values, without input, output or randomness.

`amounts` and `enclosures` are the exact numbers everything is counted in; `units`, `domains` and `sensitivity` say who
is hidden and how far one person can move a query; `events` say what was done and `losses` what it cost; `filters`
decide, on the ground of `conversions`, whether it may still be done; `groups`, `calculators` and `meaning` explain a
guarantee and never admit anything.
"""
