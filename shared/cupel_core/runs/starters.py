"""The starter of a run. The module is separate from `tokens`, because the authorizer must not load code of runs."""

from cupel_core.domain.access import Caller
from cupel_core.domain.runs.run import StartedBy, StarterType
from cupel_core.store import tokens


def started_by(caller: Caller) -> StartedBy:
    """Return the caller in the form in which a run records who started it."""
    if caller.user_name is not None:
        return StartedBy(StarterType.USER, caller.token_id, caller.user_name)
    return StartedBy(StarterType.TOKEN, caller.token_id, tokens.find_name(caller.workspace, caller.token_id))
