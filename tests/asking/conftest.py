"""A hospital with a few people in it, and sessions over it."""

from kit.curated import alice, bob, carol, catalog, curator

__all__ = ["alice", "bob", "carol", "catalog", "curator"]
