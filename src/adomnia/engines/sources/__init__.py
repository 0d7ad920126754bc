"""Reads the owner's tables, for every engine: files, databases, and tables in memory."""
