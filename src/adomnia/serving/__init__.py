"""Processes that serve: sockets, workers, and who watches them."""
