"""SQL: from the analyst's text to a plan."""
