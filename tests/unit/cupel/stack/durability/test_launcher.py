"""What the launcher of the embedded cloud changes about it."""

import time
from types import SimpleNamespace

import pytest

from cupel.stack.durability.launcher import _begin_executions_at_once, _shorten_log_wait


class Worker:
    """The emulator's, as far as the launcher knows it."""

    def _drain_stderr_bounded(self, first_line_wait: float = 0.050, idle_confirm: float = 0.005) -> tuple[float, float]:
        return first_line_wait, idle_confirm


def test_the_log_of_a_call_is_complete_once_it_was_quiet_for_a_millisecond() -> None:
    _shorten_log_wait(Worker)
    assert Worker()._drain_stderr_bounded() == (0.050, 0.001)
    assert Worker()._drain_stderr_bounded(first_line_wait=0.1) == (0.1, 0.001)


def test_executions_of_state_machines_begin_at_once_and_wait_as_long_as_they_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    step_functions = SimpleNamespace(time=time)
    _begin_executions_at_once(step_functions)
    step_functions.time.sleep(0.15)
    step_functions.time.sleep(2.0)
    assert waits == [2.0]
    assert step_functions.time.monotonic() > 0
