"""Parts of the methods for robust estimators."""
