"""The owner's catalog pages: the catalog as it is served and checked, and an editor that shows what a change does."""
