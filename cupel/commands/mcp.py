"""`cupel mcp`: the MCP server on standard input and output, for programs on a desktop."""

import sys
from typing import Annotated

import typer

from cupel.session import Session


def mcp(
    ctx: typer.Context,
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="GROUPS", help="Only tools of these groups: read, authoring, runs, analysis, admin; with commas."
        ),
    ] = None,
) -> None:
    """Pass messages of the Model Context Protocol between standard input and output and the stack, one a line."""
    from cupel.mcp_bridge import pass_messages

    def write(reply: bytes) -> None:
        sys.stdout.buffer.write(reply)
        sys.stdout.buffer.flush()

    session = ctx.ensure_object(Session)
    with session.connect() as client:
        # Bytes: the encoding of pipes is not UTF-8 everywhere.
        pass_messages(client, sys.stdin.buffer, write, tools)
