"""`cupel label`: change a run's name, tags and metadata."""

from typing import Annotated

import typer

from cupel import render
from cupel.commands.options import AsJson, Metadata, RunId, RunName, Tags, label_fields
from cupel.errors import UsageError
from cupel.session import Session


def label(
    ctx: typer.Context,
    run_id: RunId,
    name: RunName = None,
    tag: Tags = None,
    metadata: Metadata = None,
    clear: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Remove the name, tags or metadata; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a run's name, tags and metadata. --tag replaces all tags, and --metadata all metadata."""
    session = ctx.ensure_object(Session)
    changes = {field: _cleared(field) for field in clear or ()} | label_fields(name, tag, metadata)
    if not changes:
        raise UsageError("specify what to change: --name, --tag, --metadata or --clear")
    with session.connect() as client:
        run = client.update_run(run_id, changes)
    if as_json:
        session.print_json(run)
        return
    for line in render.run_lines(run):
        session.out.print(line, soft_wrap=True)


def _cleared(field: str) -> object:
    empty: dict[str, object] = {"name": None, "tags": [], "metadata": {}}
    if field not in empty:
        raise UsageError(f"--clear: {field}: expected {', '.join(empty)}")
    return empty[field]
