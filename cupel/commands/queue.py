from collections.abc import Iterable
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson, command_name, confirm, refuse_group_options
from cupel.commands.suggestions import complete_provider
from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.markup import escape
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import format_time, shorten

app = typer.Typer(
    help="Show, pause and resume the providers' queues, and redrive dead letters.", invoke_without_command=True
)

Provider = Annotated[str | None, typer.Option(autocompletion=complete_provider, help="Only this provider.")]
_IDLE = "idle"
All = Annotated[bool, typer.Option("--all", help="Every provider.")]


@app.callback()
def queue(ctx: typer.Context, provider: Provider = None, as_json: AsJson = False) -> None:
    """Show, pause and resume the providers' queues, and redrive dead letters."""
    if ctx.invoked_subcommand:
        refuse_group_options(ctx)
        return
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _print_queues(session, client.list_queues(provider=provider), as_json=as_json, hides_idle=provider is None)


@app.command()
def pause(ctx: typer.Context, provider: Provider = None, all_providers: All = False, as_json: AsJson = False) -> None:
    """Pause one provider's queue, or all: start no further calls. Calls in flight complete."""
    session = ctx.ensure_object(Session)
    _require_one(session, "Pause", provider, all_providers=all_providers)
    with session.connect() as client:
        _print_queues(session, client.pause_queues(provider), as_json=as_json)


@app.command()
def resume(ctx: typer.Context, provider: Provider = None, all_providers: All = False, as_json: AsJson = False) -> None:
    """Resume one provider's queue, or all."""
    session = ctx.ensure_object(Session)
    _require_one(session, "Resume", provider, all_providers=all_providers)
    with session.connect() as client:
        _print_queues(session, client.resume_queues(provider), as_json=as_json)


@app.command("dead-letters")
def dead_letters(
    ctx: typer.Context, provider: Provider = None, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False
) -> None:
    """List the messages that could not be processed."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_dead_letters(provider=provider)
        print_list(session, listed, limit, _dead_letters_table, as_json=as_json)


@app.command()
def redrive(
    ctx: typer.Context,
    messages: Annotated[
        list[str] | None, typer.Argument(metavar="MESSAGE", help="Ids of dead letters; default: all.")
    ] = None,
    provider: Provider = None,
    as_json: AsJson = False,
) -> None:
    """Send dead letters with unfinished conversations back to their queue, and delete the others."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        redriven = client.redrive_dead_letters(provider=provider, message_ids=messages)
    if as_json:
        session.print_json(redriven)
    else:
        _print_redriven(session, redriven)
    if unknown := redriven["unknownMessageIds"]:
        raise UsageError(f"not dead letters: {', '.join(unknown)}; {command_name()} queue dead-letters lists them")


def _dead_letters_table(letters: Iterable[Json]) -> Table:
    columns = table(
        "message",
        "provider",
        "run",
        "conversations",
        "received",
        "reason",
        right=["conversations", "received"],
        texts=["reason"],
    )
    for letter in letters:
        columns.add_row(
            escape(letter["messageId"]),
            letter["provider"],
            escape(letter["runId"]),
            str(len(letter["indexes"])),
            str(letter["receivedCount"]),
            escape(shorten(letter["cause"], 80)),
        )
    return columns


def _print_redriven(session: Session, redriven: Json) -> None:
    session.out.print(f"{redriven['sent']:,} sent again, {redriven['dropped']:,} deleted because nothing is left to do")
    for run_id in redriven["runsToRetry"]:
        session.out.print(f"to run its errored conversations again: {command_name()} retry {run_id}", markup=False)


def _require_one(session: Session, verb: str, provider: str | None, *, all_providers: bool) -> None:
    """Require one of --provider and --all; without either, a user at a terminal is asked."""
    if provider is None and not all_providers and session.err.is_terminal:
        confirm(f"{verb} the queues of all providers?", yes=False)
    elif (provider is None) != all_providers:
        raise UsageError("specify either --provider or --all")


def _print_queues(session: Session, queues: Iterable[Json], *, as_json: bool, hides_idle: bool = False) -> None:
    items = list(queues)
    if as_json:
        session.print_json(items)
        return
    hidden = sum(1 for each in items if hides_idle and _state(each) == _IDLE)
    items = [each for each in items if not hides_idle or _state(each) != _IDLE]
    if hidden:
        session.remark(f"{count_of(hidden, 'idle queue')} {'is' if hidden == 1 else 'are'} not shown; --json has all")
    counts = ["pending conversations", "parallel requests", "workers", "dead letters"]
    columns = table("provider", *counts, "state", right=counts, texts=["state"])
    for each in items:
        cells = [each[name] for name in ("pending", "granted", "workers", "deadLetters")]
        columns.add_row(each["provider"], *(f"{count:,}" for count in cells), _state(each))
    session.out.print(columns)
    for each in items:
        for suspended in each["suspendedModels"]:
            until = format_time(suspended["until"])
            line = f"{suspended['model']} is suspended until {until}: {suspended['reason']}"
            session.out.print(line, markup=False, soft_wrap=True)


def _state(queue: Json) -> str:
    if queue["paused"]:
        return "[yellow]paused[/yellow]"
    if queue["throttledUntil"]:
        return f"[yellow]throttled until {format_time(queue['throttledUntil'])}[/yellow]"
    if queue["learnedLimit"]:
        return f"running, at {queue['learnedLimit']} of {queue['limit']} parallel requests"
    counts = (queue[name] for name in ("pending", "granted", "workers", "deadLetters"))
    return "running" if any(counts) or queue["suspendedModels"] else _IDLE
