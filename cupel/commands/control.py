from typing import Annotated

import typer

from cupel import render
from cupel.commands.confirmation import start_confirmed
from cupel.commands.estimate import print_estimate
from cupel.commands.options import AsJson, Model, RunId, Yes, command_name
from cupel.counts import count_of
from cupel.json_types import Json
from cupel.session import Session

EstimateOnly = Annotated[bool, typer.Option("--estimate", help="Only print what it would cost; start nothing.")]


def pause(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Pause a run: start no further model calls. Calls in flight are still recorded."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _print_stopped(session, client.pause_run(run_id), as_json=as_json, next_command="resume")


def resume(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Resume a paused run; completed conversations are not repeated."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _print_run(session, client.resume_run(run_id), as_json=as_json, next_command="watch")


def cancel(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Cancel a run; its transcripts are kept."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _print_stopped(session, client.cancel_run(run_id), as_json=as_json, next_command="show")


def retry(
    ctx: typer.Context,
    run_id: RunId,
    model: Model = None,
    probe: Annotated[int | None, typer.Option(min=0, help="Only the conversation with this index.")] = None,
    estimate: EstimateOnly = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Run the errored conversations of a run again: all of them, those of one model, or one."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        if estimate:
            print_estimate(session, client.estimate_retry(run_id, model=model, probe_index=probe), as_json=as_json)
            return

        def start(agreed: Json) -> Json:
            confirmed = agreed.get("confirmedUsd")
            return client.retry_run(run_id, model=model, probe_index=probe, confirmed_usd=confirmed)

        run = start_confirmed(session, start, yes=yes)
        _print_run(session, run, as_json=as_json, next_command="watch")


def expand(
    ctx: typer.Context,
    run_id: RunId,
    sample: Annotated[
        int, typer.Option(min=1, max=100, help="Percentage of the scenarios; must be greater than the run's.")
    ],
    estimate: EstimateOnly = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Add scenarios to a finished sampled run; existing conversations are kept."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        if estimate:
            print_estimate(session, client.estimate_expansion(run_id, sample), as_json=as_json)
            return

        def start(agreed: Json) -> Json:
            return client.expand_run(run_id, sample, confirmed_usd=agreed.get("confirmedUsd"))

        run = start_confirmed(session, start, yes=yes)
        _print_run(session, run, as_json=as_json, next_command="watch")


def _print_stopped(session: Session, run: Json, *, as_json: bool, next_command: str) -> None:
    if run["callsInFlight"] and not as_json:
        calls = count_of(run["callsInFlight"], "call")
        session.remark(f"{calls} in flight will still be recorded; no call begins later than 5 s from now")
    _print_run(session, run, as_json=as_json, next_command=next_command)


def _print_run(session: Session, run: Json, *, as_json: bool, next_command: str) -> None:
    if as_json:
        session.print_json(run)
        return
    for line in render.run_lines(run):
        session.out.print(line, soft_wrap=True)
    session.remark(f"{command_name()} {next_command} {run['id']}")
