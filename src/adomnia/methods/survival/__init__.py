"""Survival: times to an event, some of them censored."""
