from collections.abc import Iterator

import pytest

from cupel_core.store import scenarios


@pytest.fixture(autouse=True)
def _empty_page_cache() -> Iterator[None]:
    yield
    scenarios.read_page.cache_clear()
