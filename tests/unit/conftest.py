"""Records the executions that the run engine would have started in Step Functions."""

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.store import executions


@pytest.fixture
def finish_starts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Starts of finishing executions in order, repeated ones included: (run id, fencing token)."""
    starts: list[tuple[str, int]] = []

    def start_finish(ref: RunRef, fencing_token: int) -> None:
        starts.append((ref.run_id, fencing_token))

    monkeypatch.setattr(executions, "start_finish", start_finish)
    return starts
