import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.run import TERMINAL, TRANSITIONS, Action, IllegalTransition, RunStatus, transition_for

# The table of the design, written out once more by hand.
TABLE = {
    (RunStatus.PENDING, Action.START): RunStatus.RUNNING,
    (RunStatus.PENDING, Action.PAUSE): RunStatus.PAUSED,
    (RunStatus.RUNNING, Action.PAUSE): RunStatus.PAUSED,
    (RunStatus.PAUSED, Action.PAUSE): RunStatus.PAUSED,
    (RunStatus.PAUSED, Action.RESUME): RunStatus.RUNNING,
    (RunStatus.PENDING, Action.CANCEL): RunStatus.CANCELLED,
    (RunStatus.RUNNING, Action.CANCEL): RunStatus.CANCELLED,
    (RunStatus.PAUSED, Action.CANCEL): RunStatus.CANCELLED,
    (RunStatus.RUNNING, Action.SUMMARIZE): RunStatus.SUMMARIZING,
    (RunStatus.PENDING, Action.FAIL): RunStatus.FAILED,
    (RunStatus.RUNNING, Action.FAIL): RunStatus.FAILED,
    (RunStatus.SUMMARIZING, Action.COMPLETE): RunStatus.COMPLETED,
    (RunStatus.SUMMARIZING, Action.FAIL): RunStatus.FAILED,
    (RunStatus.RUNNING, Action.REOPEN): RunStatus.RUNNING,
    (RunStatus.COMPLETED, Action.REOPEN): RunStatus.RUNNING,
    (RunStatus.FAILED, Action.REOPEN): RunStatus.RUNNING,
}


@given(st.sampled_from(RunStatus), st.sampled_from(Action))
def test_a_status_changes_only_along_the_table(status: RunStatus, action: Action) -> None:
    if (status, action) in TABLE:
        assert transition_for(action, status).target is TABLE[status, action]
    else:
        with pytest.raises(IllegalTransition, match=f"cannot {action} a run that is {status}"):
            transition_for(action, status)


def test_a_cancelled_run_stays_cancelled() -> None:
    assert not [action for action in Action if RunStatus.CANCELLED in TRANSITIONS[action].sources]


def test_transitions_that_invalidate_old_messages_advance_the_fencing_token() -> None:
    advancing = {action for action, transition in TRANSITIONS.items() if transition.advances_fencing_token}
    assert advancing == {Action.PAUSE, Action.RESUME, Action.CANCEL, Action.REOPEN}


def test_only_reopening_leaves_a_terminal_status() -> None:
    leaving = {action for action, transition in TRANSITIONS.items() if transition.sources & TERMINAL}
    assert leaving == {Action.REOPEN}
