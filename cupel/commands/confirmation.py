"""Starts that are expected to cost more than their budget: asks first, or says how to agree."""

from collections.abc import Callable

from cupel.commands.options import confirm
from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json
from cupel.render import format_cost_interval
from cupel.session import Session


def start_confirmed(session: Session, start: Callable[[Json], Json], *, yes: bool) -> Json:
    """`start` gets the fields of an agreement: none at first. Whoever says no ends the command with 1.

    The amount is what was shown: if a price rises in between, the API refuses again.
    """
    try:
        return start({})
    except ApiProblem as problem:
        if problem.estimate is None:
            raise
        usd = problem.estimate["usd"]
    confirm_estimate(session, usd, yes=yes)
    return start({"confirmedUsd": usd["expected"]})


def confirm_estimate(session: Session, usd: Json, *, yes: bool) -> None:
    """Ask whether to start although the estimate exceeds the budget. UsageError if nobody can answer."""
    exceeds = f"the estimate of {format_cost_interval(usd)} exceeds the budget"
    if yes:
        session.remark(f"{exceeds}; started because of --yes")
        return
    if not session.can_ask():
        raise UsageError(f"--budget: {exceeds}, so the run may be paused before its end; --yes starts it all the same")
    confirm(f"{exceeds[0].upper()}{exceeds[1:]}, so the run may be paused before its end. Start it?", yes=False)
