"""For tests of the run engine: what Step Functions would have been asked to do."""

from collections.abc import Iterator

import pytest

from cupel_core import accounts
from cupel_core.messages import RunRef
from cupel_core.store import executions, scenarios, snapshots


@pytest.fixture
def finishing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """The executions that were begun: (run, epoch), in order, also when begun twice."""
    begun: list[tuple[str, int]] = []

    def begin(ref: RunRef, epoch: int) -> None:
        begun.append((ref.run_id, epoch))

    monkeypatch.setattr(executions, "start_finish", begin)
    yield begun
    accounts.clear_key_cache()
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()
