"""The scalar functions: each is one row that says how it is written, what it gives, and its bounds."""
