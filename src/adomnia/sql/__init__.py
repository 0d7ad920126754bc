"""SQL: from the analyst's text to a plan, its price, and the second look at what the engine is asked to run."""
