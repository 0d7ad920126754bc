"""The web console: pages for people, made from the same sessions and records that programs use.

Every page is HTML that works without scripts; scripts ask for parts of the same pages, and replace them in place.
"""
