"""`cupel labels`: verdicts of people on transcripts."""

from http import HTTPStatus
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer
from rich.table import Table

from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson, RunId
from cupel.commands.request_options import with_settings
from cupel.commands.web_page import PrintOnly, open_signed_in, run_path
from cupel.errors import ApiProblem, CupelError
from cupel.json_types import Json
from cupel.label_files import named_rows, read_labels
from cupel.markup import escape
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE
from cupel_core.domain.labelling.labels import MAX_LABELS_PER_IMPORT, RESULT

if TYPE_CHECKING:
    from cupel.client import Client

app = typer.Typer(help="Draw transcripts for labelling, and list, import and remove labels.")

Criterion = Annotated[
    str, typer.Option(help="The name of a check, `result` for the whole result, or `decision` for codes.")
]
ProbeId = Annotated[str, typer.Argument(metavar="PROBE", help="The id of a probe, such as run_01jd3v…-7.")]


@app.command()
@with_settings("CreateLabelSet")
def sample(ctx: typer.Context, run_id: RunId, as_json: AsJson = False, *, settings: Json) -> None:
    """Draw transcripts for labelling: one of each scenario, and more where the judge says fail."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        made = client.create_label_set(run_id, settings)
    if as_json:
        session.print_json(made)
    else:
        session.out.print(_sets_table([made]))


@app.command()
def sets(ctx: typer.Context, run_id: RunId, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
    """List the label sets of a run with their progress."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        print_list(session, client.list_label_sets(run_id), limit, _sets_table, as_json=as_json)


@app.command("open")
def open_label_set(
    ctx: typer.Context,
    run_id: RunId,
    label_set: Annotated[
        str | None,
        typer.Argument(metavar="SET", help="The id of a label set; default: the newest.", show_default=False),
    ] = None,
    print_only: PrintOnly = False,
    as_json: AsJson = False,
) -> None:
    """Open the web page where the transcripts of a label set are labelled, signed in."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        chosen = label_set or _newest_set(client, run_id)
        path = f"{run_path(run_id)}?{urlencode({'label': chosen})}"
        open_signed_in(session, client, path, print_only=print_only, as_json=as_json)


def _newest_set(client: "Client", run_id: str) -> str:
    """Return the id of the label set that was drawn last."""
    found = list(client.list_label_sets(run_id))
    if not found:
        raise CupelError(f"the run {run_id} has no label sets; draw one with `cupel labels sample {run_id}`")
    return str(found[-1]["id"])


@app.command("delete-set")
def delete_set(
    ctx: typer.Context,
    run_id: RunId,
    label_set: Annotated[str, typer.Argument(metavar="ID", help="The id of a label set.")],
) -> None:
    """Delete a label set whose transcripts have no labels."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.delete_label_set(run_id, label_set)
    session.out.print(f"deleted {label_set}", markup=False)


@app.command("list")
def list_labels(
    ctx: typer.Context,
    run_id: RunId,
    criterion: Annotated[str | None, typer.Option(help="List only labels of this criterion.")] = None,
    labeller: Annotated[str | None, typer.Option(help="List only labels of this person.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List the labels of a run."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_labels(run_id, criterion=criterion, labeller=labeller)
        print_list(session, listed, limit, _labels_table, as_json=as_json)


@app.command("set")
@with_settings("SaveLabel", without=("value",))
def set_label(
    ctx: typer.Context,
    probe_id: ProbeId,
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="LABEL",
            help="pass, fail or skip; for decisions a code 1 to 5. Without it, --note alone is a comment.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    *,
    settings: Json,
) -> None:
    """Label one transcript, or comment on it."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        saved = client.save_label(probe_id, settings | {"value": value})
    if as_json:
        session.print_json(saved)
    else:
        session.out.print(f"{probe_id}: {saved['value'] or 'comment'} by {saved['labeller']}", markup=False)


@app.command()
def remove(
    ctx: typer.Context,
    probe_id: ProbeId,
    criterion: Criterion = RESULT,
    labeller: Annotated[str | None, typer.Option(help="Who gave it; by default the owner of the token.")] = None,
) -> None:
    """Remove a label."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.delete_label(probe_id, criterion=criterion, labeller=labeller)
    session.out.print(f"removed the label of {probe_id}", markup=False)


@app.command("import")
def import_labels(
    ctx: typer.Context,
    run_id: RunId,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file with a heading and a row for each label.")],
    criterion: Criterion = RESULT,
    as_json: AsJson = False,
) -> None:
    """Import labels from a CSV file. Importing it again changes nothing.

    The column `label` is required, and so is `probe` or `scenario`. Other columns are model, prompt, persona, repeat,
    criterion, labeller, note and verdict_visible.
    """
    session = ctx.ensure_object(Session)
    rows, counts = read_labels(file), dict.fromkeys(("created", "changed", "unchanged"), 0)
    with session.connect() as client:
        for part in batched(rows, MAX_LABELS_PER_IMPORT):
            body = {"criterion": criterion, "labels": [row.label for row in part]}
            try:
                imported = client.add_labels(run_id, body)
            except ApiProblem as problem:
                if problem.status != HTTPStatus.UNPROCESSABLE_ENTITY:
                    raise
                if part[0] is not rows[0]:
                    session.remark(f"the labels before {part[0].place} are stored")
                raise named_rows(file, problem, part) from problem
            counts = {name: counts[name] + imported[name] for name in counts}
    if as_json:
        session.print_json(counts)
    else:
        session.out.print(", ".join(f"{number:,} {name}" for name, number in counts.items()), markup=False)


def _sets_table(listed: list[Json]) -> Table:
    rows = table("label set", "criterion", "transcripts", "twice", "labelled", "skipped", right=["transcripts"])
    for each in listed:
        progress = each["progress"]
        numbers = (each["count"], each["toLabelTwice"], progress["labelled"], progress["skipped"])
        rows.add_row(escape(each["id"]), escape(each["criterion"]), *map(str, numbers))
    return rows


def _labels_table(listed: list[Json]) -> Table:
    rows = table("probe", "criterion", "label", "labeller", "blind", "note", texts=["note"])
    for each in listed:
        cells = [each["probeId"], each["criterion"], each["value"] or NO_VALUE, each["labeller"]]
        rows.add_row(*map(escape, (*cells, each["blindValue"] or NO_VALUE, each["note"] or "")))
    return rows
