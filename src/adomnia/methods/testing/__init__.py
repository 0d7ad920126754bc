"""Tests: null distributions that know the noise."""
