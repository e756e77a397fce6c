from collections.abc import Iterator

import pytest

from cupel_core.store import scenarios, snapshots


@pytest.fixture(autouse=True)
def clear_caches() -> Iterator[None]:
    yield
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()
