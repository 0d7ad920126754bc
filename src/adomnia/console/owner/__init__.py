"""The pages of owners and auditors: whether all is well, the ledger, budgets, people."""
