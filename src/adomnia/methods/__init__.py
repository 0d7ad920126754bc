"""Methods: whole analyses that are called by name, each a question whose answer is a table."""
