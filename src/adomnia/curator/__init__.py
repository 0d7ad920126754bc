"""The curator: the one place where data, noise and budget meet."""
