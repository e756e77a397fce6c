"""Asks for confirmation of starts that are expected to cost more than their budget, and before all data is deleted."""

from collections.abc import Callable

from cupel.commands.options import confirm
from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json
from cupel.session import Session

_REMEDY = "; repeat the request"


def start_confirmed(session: Session, start: Callable[[Json], Json], *, yes: bool) -> Json:
    """Start, and ask for agreement if the API requires it.

    `start` gets the fields of an agreement, which are empty at first. A refusal ends the command with 1. The agreed
    amount is the one that was shown: if a price rises in between, the API refuses again.
    """
    try:
        return start({})
    except ApiProblem as problem:
        if problem.estimate is None:
            raise
        agreed_usd, reason = problem.estimate["confirmableUsd"], problem.detail.partition(_REMEDY)[0]
    confirm_cost(session, reason, yes=yes)
    return start({"confirmedUsd": agreed_usd})


def confirm_cost(session: Session, reason: str, *, yes: bool) -> None:
    """Ask whether to start despite the `reason`, a cost above the budget. Raises UsageError if nobody can answer."""
    if yes:
        session.remark(f"{reason}; started because of --yes")
        return
    if not session.can_ask():
        raise UsageError(f"{reason}; --yes starts it all the same")
    confirm(f"{reason[0].upper()}{reason[1:]}. Start it?", yes=False)


def confirm_deletion(session: Session, what: str, *, yes: bool) -> None:
    if not yes and not session.can_ask():
        raise UsageError(f"this deletes {what}; --yes deletes without asking")
    confirm(f"Delete {what}?", yes=yes)
