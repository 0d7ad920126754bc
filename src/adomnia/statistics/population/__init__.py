"""Statistics about the population that the people are a sample of: intervals of noise and sampling together.

They are about independent rows: one a person.
"""
