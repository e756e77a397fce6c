"""`cupel up`, `cupel down`, `cupel status`: the whole stack on this machine."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cupel.commands.options import AsJson
from cupel.session import Session

Port = Annotated[
    int | None,
    typer.Option(
        min=1024, max=65535, help="Of the embedded cloud; 4566 if that is free, else any.", show_default=False
    ),
]


def up(ctx: typer.Context, port: Port = None) -> None:
    """Start the embedded cloud and bring the stack in it to what the sources say."""
    from cupel.stack import lifecycle
    from cupel.stack.paths import find_place

    session = ctx.ensure_object(Session)
    place = find_place(Path.cwd())
    local = lifecycle.up(place, port, session.remark)
    session.remark(f"Cupel is up at {local.api_url} (token in {place.local_file})")


def down(
    ctx: typer.Context,
    discard: Annotated[bool, typer.Option("--discard", help="Forget all data too: definitions, runs, keys.")] = False,
) -> None:
    """Stop the embedded cloud. Its data stays for the next `cupel up`."""
    from cupel.stack import lifecycle
    from cupel.stack.paths import find_place

    stopped = lifecycle.down(find_place(Path.cwd()), discard=discard)
    ctx.ensure_object(Session).remark("stopped" if stopped else "was not running")


def status(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Tell whether the local stack runs, where, and whether it is what the sources say. Exit code 1 when it is down."""
    from cupel.stack import lifecycle
    from cupel.stack.paths import find_place

    session = ctx.ensure_object(Session)
    place = find_place(Path.cwd())
    found = lifecycle.standing(place)
    document: dict[str, Any] = {"running": found is not None}
    if found:
        document |= {
            "apiUrl": found.local.api_url if found.local else None,
            "endpointUrl": found.emulator.endpoint_url,
            "processId": found.emulator.pid,
            "current": found.is_current,
        }
    if as_json:
        session.print_json(document)
    else:
        session.out.print(_told(document), markup=False, soft_wrap=True)
    if not found:
        raise typer.Exit(1)


def _told(document: dict[str, Any]) -> str:
    if not document["running"]:
        return "down; `cupel up` starts it"
    current = "deployed from the sources as they are" if document["current"] else "older than the sources; `cupel up`"
    return f"up at {document['apiUrl']}\n{current}\nprocess {document['processId']}"
