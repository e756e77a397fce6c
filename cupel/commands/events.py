import json
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_items, print_list
from cupel.commands.options import AsJson, RunId
from cupel.json_types import Json
from cupel.markup import escape
from cupel.pages import FirstItems
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import format_time, shorten


def events(
    ctx: typer.Context,
    run_id: RunId,
    after: Annotated[int, typer.Option(min=0, help="Only events with a higher number.")] = 0,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List the events of a run, oldest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        stored = [event for event in client.list_run_events(run_id, after=after) if event["seq"] is not None]
        first = FirstItems(stored[:limit], has_more=len(stored) > limit)
        print_items(session, first, _events_table, as_json=as_json, total=lambda: len(stored))


def audit(
    ctx: typer.Context,
    token: Annotated[str | None, typer.Option(help="Only requests with this token, by its id.")] = None,
    operation: Annotated[str | None, typer.Option(help="Only this operation of the API, such as createRun.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List who changed what in the last year, newest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_audit_records(token_id=token, operation=operation)
        print_list(session, listed, limit, _audit_table, as_json=as_json)


def _events_table(events: Iterable[Json]) -> Table:
    columns = table("number", "time", "event", "data", right=["number"], texts=["data"])
    for event in events:
        data = json.dumps(event["data"], ensure_ascii=False) if event["data"] else ""
        columns.add_row(str(event["seq"]), format_time(event["ts"]), event["type"], escape(shorten(data, 200)))
    return columns


def _audit_table(records: Iterable[Json]) -> Table:
    columns = table("time", "caller", "role", "operation", "path", "status", right=["status"])
    for record in records:
        caller = record["userName"] or record["tokenId"]
        texts = map(escape, (caller, record["role"], record["operation"], record["path"]))
        columns.add_row(format_time(record["at"]), *texts, str(record["status"]))
    return columns
