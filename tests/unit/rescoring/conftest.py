from collections.abc import Iterator

import pytest

from cupel_core.store import scenarios, snapshots


@pytest.fixture(autouse=True)
def forget_what_was_read() -> Iterator[None]:
    yield
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()
