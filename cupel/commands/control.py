"""`cupel pause`, `resume`, `cancel`, `retry` and `expand`: steer a run."""

from typing import Annotated

import typer

from cupel import render
from cupel.commands.options import AsJson, Model, RunId, own_name
from cupel.json_types import Json
from cupel.session import Session


def pause(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Begin no further model calls; those in flight are recorded."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _tell(session, client.pause_run(run_id), as_json=as_json, onwards="resume")


def resume(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Go on with what a paused run misses."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _tell(session, client.resume_run(run_id), as_json=as_json, onwards="watch")


def cancel(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """End a run early; its transcripts stay."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _tell(session, client.cancel_run(run_id), as_json=as_json, onwards="show")


def retry(
    ctx: typer.Context,
    run_id: RunId,
    model: Model = None,
    probe: Annotated[int | None, typer.Option(min=0, help="Only the probe with this number.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run the errored probes of a finished run again: all, of one model, or one."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _tell(session, client.retry_run(run_id, model=model, probe_index=probe), as_json=as_json, onwards="watch")


def expand(
    ctx: typer.Context,
    run_id: RunId,
    sample: Annotated[int, typer.Option(min=1, max=100, help="Percentage of the scenarios, more than the run has.")],
    as_json: AsJson = False,
) -> None:
    """Add scenarios to a finished sampled run; it keeps those it has."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _tell(session, client.expand_run(run_id, sample), as_json=as_json, onwards="watch")


def _tell(session: Session, run: Json, *, as_json: bool, onwards: str) -> None:
    if as_json:
        session.print_json(run)
        return
    for line in render.run_lines(run):
        session.out.print(line, soft_wrap=True)
    session.remark(f"{own_name()} {onwards} {run['id']}")
