from collections.abc import Iterator

import pytest

from cupel_core.sandbox import pool


@pytest.fixture(autouse=True)
def _fresh_workspaces() -> Iterator[None]:
    """Every test starts without processes and with its workspaces' budgets unused."""
    pool.close()
    pool.reset_budgets()
    yield
    pool.close()
    pool.reset_budgets()
