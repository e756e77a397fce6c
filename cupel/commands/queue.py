"""`cupel queue`: how the providers' queues stand, pausing them, and their dead letters."""

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.markup import escape

from cupel import render
from cupel.commands.options import AsJson, own_name
from cupel.json_types import Json
from cupel.session import Session

app = typer.Typer(help="See and pause the providers' queues, and send dead letters again.", invoke_without_command=True)

Provider = Annotated[str | None, typer.Option(help="Only this provider's.")]


@app.callback()
def queue(ctx: typer.Context, provider: Provider = None, as_json: AsJson = False) -> None:
    """See and pause the providers' queues, and send dead letters again."""
    if ctx.invoked_subcommand:
        return
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _tell(session, client.queue(provider=provider), as_json=as_json)


@app.command()
def pause(ctx: typer.Context, provider: Provider = None, as_json: AsJson = False) -> None:
    """Begin nothing new with a provider, or with any; what is in flight completes."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _tell(session, client.pause_queue(provider), as_json=as_json)


@app.command()
def resume(ctx: typer.Context, provider: Provider = None, as_json: AsJson = False) -> None:
    """Go on with a provider, or with all."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _tell(session, client.resume_queue(provider), as_json=as_json)


@app.command()
def dead(ctx: typer.Context, provider: Provider = None, as_json: AsJson = False) -> None:
    """List the messages that were given up."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = list(client.dead_letters(provider=provider))
    if as_json:
        session.print_json(found)
        return
    columns = render.table("message", "provider", "run", "probes", "received", "cause", right=["probes", "received"])
    for letter in found:
        columns.add_row(
            escape(letter["messageId"]),
            letter["provider"],
            escape(letter["runId"]),
            str(len(letter["indexes"])),
            str(letter["receivedCount"]),
            escape(render.shorten(letter["cause"], 80)),
        )
    session.out.print(columns)


@app.command()
def redrive(
    ctx: typer.Context,
    messages: Annotated[
        list[str] | None, typer.Argument(metavar="[MESSAGE]...", help="Their ids; all if none.")
    ] = None,
    provider: Provider = None,
    as_json: AsJson = False,
) -> None:
    """Send dead letters again whose probes are still to run, and remove the others."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        redriven = client.redrive(provider=provider, message_ids=messages)
    if as_json:
        session.print_json(redriven)
        return
    session.out.print(f"{redriven['sent']:,} sent again, {redriven['dropped']:,} removed with nothing left to do")
    for run_id in redriven["toRetry"]:
        session.out.print(f"errored probes are retried with their run: {own_name()} retry {run_id}", markup=False)


def _tell(session: Session, queues: Iterable[Json], *, as_json: bool) -> None:
    found = list(queues)
    if as_json:
        session.print_json(found)
        return
    counts = ["waiting", "in flight", "delayed", "dead"]
    columns = render.table("provider", *counts, "workers", "state", right=[*counts, "workers"])
    for each in found:
        told = [each[name] for name in ("waiting", "inFlight", "delayed", "dead", "workers")]
        columns.add_row(each["provider"], *(f"{count:,}" for count in told), _state(each))
    session.out.print(columns)
    for each in found:
        for held in each["heldModels"]:
            line = f"{held['model']} is held until {render.moment(held['until'])}: {held['reason']}"
            session.out.print(line, markup=False, soft_wrap=True)


def _state(queue: Json) -> str:
    if queue["paused"]:
        return "[yellow]paused[/yellow]"
    if queue["throttledUntil"]:
        return f"[yellow]throttled until {render.moment(queue['throttledUntil'])}[/yellow]"
    if queue["learnedLimit"]:
        return f"running, at {queue['learnedLimit']} of {queue['limit']} parallel requests"
    return "running"
