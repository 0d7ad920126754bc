"""Parses SQL text to a tree, or refuses it with the position of what is wrong."""
