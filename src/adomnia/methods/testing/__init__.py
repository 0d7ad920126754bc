"""Tests: null laws that know the noise."""
