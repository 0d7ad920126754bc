from __future__ import annotations

import pytest

from adomnia.catalog.sizes import parse_size


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("500KB", 500_000),
        ("1 MB", 10**6),
        ("1200MB", 12 * 10**8),
        ("2GB", 2 * 10**9),
        ("1.5GiB", 3 * 2**29),
        ("0.1TB", 10**11),
        ("0KB", 0),
    ],
)
def test_sizes_are_read_exactly(written, size):
    assert parse_size(written) == size


@pytest.mark.parametrize(
    "written",
    ["", "500", "500B", "-1MB", "1e3MB", "1,5GB", "MB", "1MB ", "\N{FULLWIDTH DIGIT ONE}MB", "1" * 10 + "MB", "1XB"],
)
def test_other_texts_are_none(written):
    assert parse_size(written) is None
