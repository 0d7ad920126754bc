from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kit.publishing import published

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kit.house import House


@pytest.fixture(scope="package")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with published(tmp_path_factory.mktemp("publisher")) as opened:
        yield opened
