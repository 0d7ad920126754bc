"""The version of this program, which every stored answer names."""

__version__ = "0.1.0"
