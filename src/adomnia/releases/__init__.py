"""Releases once they are made: asked as tables, at no price."""
