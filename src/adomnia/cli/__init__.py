"""The command line: thin, and quick to start because each command imports what it needs only when it runs."""
