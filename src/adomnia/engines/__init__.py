"""Engines: databases that hold the contribution index and compute exact integer aggregates over it."""
