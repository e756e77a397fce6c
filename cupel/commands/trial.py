"""`cupel report --trial`: whether the revised prompt of a report helps."""

from typing import TYPE_CHECKING

import typer

from cupel.commands.confirmation import start_confirmed
from cupel.commands.options import command_name
from cupel.counts import count_of
from cupel.json_types import Json
from cupel.render import format_cost_interval
from cupel.session import Session
from cupel.watch import watch
from cupel_core.domain.runs.run import TERMINAL
from cupel_core.domain.text.figures import format_points_apart

if TYPE_CHECKING:
    from cupel.client import Client

_POLL_SECONDS = 1.0
_MAX_POLLS = 60
"""For the start of a trial, which follows the end of the report within seconds."""
_INTERRUPTED = 130


def try_revised_prompt(session: Session, client: "Client", report: Json, options: Json, *, yes: bool) -> None:
    """Start the trial of a report, unless it has one, and wait for its result, which the report then has."""
    run_id, report_id = report["runId"], report["id"]
    if report["trial"] is None:
        _announce(session, client.estimate_trial(run_id, report_id, options))
    trial = start_confirmed(session, lambda agreed: client.create_trial(run_id, report_id, options | agreed), yes=yes)
    _wait(session, client, report, trial)


def wait_for_requested_trial(session: Session, client: "Client", report: Json) -> None:
    """Wait for the result of the trial that follows a report by itself, unless it could not start."""
    for _ in range(_MAX_POLLS):
        report = client.get_report(report["runId"], report["id"])
        if report["trial"] is not None or report["trialRefusal"] is not None:
            break
        session.sleep(_POLL_SECONDS)
    if report["trial"] is not None:
        _wait(session, client, report, report["trial"])


def _wait(session: Session, client: "Client", report: Json, trial: Json) -> None:
    run_id, report_id = report["runId"], report["id"]
    try:
        for arm in ("originalRunId", "revisedRunId"):
            if trial["status"] == "RUNNING":
                _wait_for_run(session, client, trial[arm])
        while trial["status"] == "RUNNING":
            session.sleep(_POLL_SECONDS)
            trial = client.get_trial(run_id, report_id)
    except KeyboardInterrupt:
        session.remark(f"the trial continues; its result: {command_name()} report {run_id} --trial")
        raise typer.Exit(_INTERRUPTED) from None
    if trial["status"] == "FAILED":
        session.remark(f"the trial failed: {trial['failure']}")
        raise typer.Exit(1)


def _announce(session: Session, plan: Json) -> None:
    """What a trial can find is said before it is paid for."""
    conversations = count_of(plan["estimate"]["jobCount"], "conversation")
    apart = format_points_apart(plan["detectableDifference"])
    session.remark(
        f"trial: {conversations} about {count_of(plan['scenarios'], 'scenario')}, "
        f"{format_cost_interval(plan['estimate']['usd'])}; "
        f"it finds a difference of {apart} with a chance of 80%"
    )


def _wait_for_run(session: Session, client: "Client", run_id: str) -> None:
    run = watch(session, client, client.get_run(run_id))
    if run["status"] not in TERMINAL:
        session.remark(f"run {run_id} is {run['status']}; repeat the command once it has ended")
        raise typer.Exit(1)
