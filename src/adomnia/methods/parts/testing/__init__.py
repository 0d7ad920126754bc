"""Parts of the methods for tests."""
