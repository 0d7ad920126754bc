"""Estimators of robust statistics whose noise follows the data at hand: private but for a delta."""
