"""Releases as they are kept: folders that open anywhere, without the private data."""
