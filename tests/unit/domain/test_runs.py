import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.run import MOVES, TERMINAL, Action, IllegalMove, RunStatus, allowed

# The table of the design, written out once more by hand.
TABLE = {
    (RunStatus.PENDING, Action.START): RunStatus.RUNNING,
    (RunStatus.PENDING, Action.PAUSE): RunStatus.PAUSED,
    (RunStatus.RUNNING, Action.PAUSE): RunStatus.PAUSED,
    (RunStatus.PAUSED, Action.RESUME): RunStatus.RUNNING,
    (RunStatus.PENDING, Action.CANCEL): RunStatus.CANCELLED,
    (RunStatus.RUNNING, Action.CANCEL): RunStatus.CANCELLED,
    (RunStatus.PAUSED, Action.CANCEL): RunStatus.CANCELLED,
    (RunStatus.RUNNING, Action.SUMMARIZE): RunStatus.SUMMARIZING,
    (RunStatus.PENDING, Action.FAIL): RunStatus.FAILED,
    (RunStatus.RUNNING, Action.FAIL): RunStatus.FAILED,
    (RunStatus.SUMMARIZING, Action.COMPLETE): RunStatus.COMPLETED,
    (RunStatus.SUMMARIZING, Action.FAIL): RunStatus.FAILED,
    (RunStatus.COMPLETED, Action.REOPEN): RunStatus.RUNNING,
    (RunStatus.FAILED, Action.REOPEN): RunStatus.RUNNING,
}


@given(st.sampled_from(RunStatus), st.sampled_from(Action))
def test_a_status_moves_only_along_the_table(status: RunStatus, action: Action) -> None:
    if (status, action) in TABLE:
        assert allowed(action, status).target is TABLE[status, action]
    else:
        with pytest.raises(IllegalMove, match=f"{status} cannot {action}"):
            allowed(action, status)


def test_a_cancelled_run_stays_cancelled() -> None:
    assert not [action for action in Action if RunStatus.CANCELLED in MOVES[action].sources]


def test_moves_that_void_old_messages_begin_a_new_epoch() -> None:
    new_epochs = {action for action, move in MOVES.items() if move.new_epoch}
    assert new_epochs == {Action.PAUSE, Action.RESUME, Action.CANCEL, Action.REOPEN}


def test_only_reopening_leaves_a_terminal_status() -> None:
    leaving = {action for action, move in MOVES.items() if move.sources & TERMINAL}
    assert leaving == {Action.REOPEN}
