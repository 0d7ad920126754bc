"""The page of budgets: what is left, how it went, what a price means to a person, and what comes next."""
