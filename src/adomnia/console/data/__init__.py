"""The pages of the data: what the owner declares, who is protected, how tables meet, and questions to begin with.

All of it comes from the catalog, which is public. Rows that are shown are made up, or those of public tables.
"""
