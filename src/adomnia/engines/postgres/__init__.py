"""Engines that keep the index in PostgreSQL."""
