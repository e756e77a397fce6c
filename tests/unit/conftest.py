"""Records the executions that the run engine would have started in Step Functions."""

from collections.abc import Iterator

import pytest

from cupel_core import accounts
from cupel_core.messages import RunRef
from cupel_core.store import executions, scenarios, snapshots


@pytest.fixture
def finish_starts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """Starts of finishing executions in order, repeated ones included: (run id, fencing token)."""
    starts: list[tuple[str, int]] = []

    def start_finish(ref: RunRef, fencing_token: int) -> None:
        starts.append((ref.run_id, fencing_token))

    monkeypatch.setattr(executions, "start_finish", start_finish)
    yield starts
    accounts.clear_key_cache()
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()
