"""Starts, retries and expansions that are expected to cost more than their budget: asks first, or says how to agree."""

from collections.abc import Callable

from cupel.commands.options import confirm
from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json
from cupel.render import format_cost_interval
from cupel.session import Session


def start_confirmed(
    session: Session, start: Callable[[Json], Json], *, yes: bool, option: str | None = "--budget"
) -> Json:
    """`start` gets the fields of an agreement: none at first. Whoever says no ends the command with 1.

    `option` is the one that set the budget, if the command has one. The amount is what was shown: if a price rises in
    between, the API refuses again.
    """
    try:
        return start({})
    except ApiProblem as problem:
        if problem.estimate is None:
            raise
        usd = problem.estimate["usd"]
    confirm_estimate(session, usd, yes=yes, option=option)
    return start({"confirmedUsd": usd["expected"]})


def confirm_estimate(session: Session, usd: Json, *, yes: bool, option: str | None = "--budget") -> None:
    """Ask whether to start although the estimate exceeds the budget. UsageError if nobody can answer."""
    exceeds = f"the estimate of {format_cost_interval(usd)} exceeds the budget"
    if yes:
        session.remark(f"{exceeds}; started because of --yes")
        return
    if not session.can_ask():
        where = f"{option}: " if option else ""
        raise UsageError(f"{where}{exceeds}, so the run may be paused before its end; --yes starts it all the same")
    confirm(f"{exceeds[0].upper()}{exceeds[1:]}, so the run may be paused before its end. Start it?", yes=False)
