"""What may be done by a visit beside asking a session: routes and pages call the same functions."""
