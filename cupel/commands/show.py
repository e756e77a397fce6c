"""`cupel runs`, `show` and `transcripts`: read what there is."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from cupel import render, results
from cupel.commands.options import AsJson, Limit, Model, RunId
from cupel.json_types import Json
from cupel.results import ModelResults
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Client


def runs(
    ctx: typer.Context,
    definition: Annotated[str | None, typer.Option(help="Only runs of this definition.")] = None,
    status: Annotated[str | None, typer.Option(help="Only runs in this status, such as RUNNING.")] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = list(islice(client.runs(definition_id=definition, status=status), limit))
    if as_json:
        session.print_json(found)
    else:
        session.out.print(render.runs_table(found))


def show(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Show a run and its results so far."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        report(session, client, client.run(run_id), as_json=as_json, more={})


def transcripts(
    ctx: typer.Context,
    run_id: RunId,
    model: Model = None,
    scenario: Annotated[str | None, typer.Option(help="Only this scenario.")] = None,
    limit: Limit = 20,
    full: Annotated[bool, typer.Option("--full", help="Whole conversations instead of a table.")] = False,
    as_json: AsJson = False,
) -> None:
    """List a run's transcripts."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = list(islice(client.transcripts(run_id, model=model, scenario_id=scenario), limit))
    if as_json:
        session.print_json(found)
    elif full:
        for transcript in found:
            _print_conversation(session, transcript)
    else:
        session.out.print(render.transcripts_table(found))


def report(session: Session, client: "Client", run: Json, *, as_json: bool, more: Json) -> list[ModelResults]:
    """The run with its results; `more` joins the JSON document."""
    with session.err.status("reading transcripts") as reading:
        found = results.collect(client, run, lambda count: reading.update(f"reading transcripts ({count:,})"))
    if as_json:
        session.print_json({"run": run, **more, "results": results.to_json(found)})
        return found
    for line in render.run_lines(run):
        session.out.print(line, soft_wrap=True)
    session.out.print()
    print_results(session, found)
    return found


def print_results(session: Session, found: list[ModelResults]) -> None:
    for table in render.results_tables(found, session.out):
        session.out.print(table)
    for line in render.results_legend(found):
        session.out.print(line, markup=False, style="dim", soft_wrap=True)


def _print_conversation(session: Session, transcript: Json) -> None:
    session.out.rule(f"{transcript['modelId']}  {transcript['scenarioId']}  probe {transcript['probeIndex']}")
    print_messages(session, (transcript.get("content") or {}).get("messages") or ())
    session.out.print(f"decision {transcript['decisionCode'] or render.NOTHING}", style="bold")
    print_result(session, transcript.get("result"))


def print_messages(session: Session, messages: Iterable[Json]) -> None:
    for message in messages:
        session.out.print(message["role"], style="bold")
        session.out.print(render.plain(message["content"]), markup=False, soft_wrap=True)


def print_result(session: Session, result: Json | None) -> None:
    if result is not None:
        words = f"{'passed' if result['success'] else 'failed'}: {result['reason'] or render.NOTHING}"
        session.out.print(render.plain(words), markup=False, style="bold", soft_wrap=True)
