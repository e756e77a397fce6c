"""`cupel delete` and `cupel deletions` delete runs and conversations, and repeat deletions after a restore."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import batched
from typing import Annotated

import typer

from cupel.commands.options import AsJson, Yes, confirm
from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.extras import require_extra
from cupel.json_types import Json
from cupel.session import Session

app = typer.Typer(help="Deletions of a stack on AWS.", no_args_is_help=True)
_MAX_DELETED = 100
"""A request deletes at most so many."""


def delete(
    ctx: typer.Context,
    run_ids: Annotated[list[str], typer.Argument(metavar="RUN", help="The id of a run, or several.")],
    probe: Annotated[
        list[int] | None,
        typer.Option(min=0, help="Only the conversation with this index, repeatable; results are kept."),
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete runs with everything that was said in them, or only some conversations of a run. It cannot be undone."""
    session = ctx.ensure_object(Session)
    if probe and len(run_ids) > 1:
        raise UsageError("--probe: give one run")
    ids = [f"{run_ids[0]}-{index}" for index in probe] if probe else run_ids
    confirm(f"Delete {'the conversations of ' if probe else ''}{', '.join(ids)}?", yes=yes)
    with session.connect() as client:
        if len(ids) > 1:
            delete_all = client.delete_probe_contents if probe else client.delete_runs
            delete_each(session, ids, delete_all, as_json=as_json)
            return
        delete_one = client.delete_probe_content if probe else client.delete_run
        delete_one(ids[0])
    if as_json:
        session.print_json({"runId": run_ids[0], "probeIndex": probe[0] if probe else None, "deleted": True})
    else:
        session.out.print(f"deleted {'the conversation of ' if probe else ''}{ids[0]}", markup=False)


def delete_each(session: Session, ids: list[str], delete: Callable[[list[str]], list[Json]], *, as_json: bool) -> None:
    results = [result for batch in batched(ids, _MAX_DELETED) for result in delete(list(batch))]
    if as_json:
        session.print_json(results)
    for result in results:
        if not result["deleted"]:
            problem = result["problem"]
            session.remark(f"{result['id']}: {problem['status']} {problem['title']}: {problem['detail']}")
        elif not as_json:
            session.out.print(f"deleted {result['id']}", markup=False)
    if not all(result["deleted"] for result in results):
        raise typer.Exit(1)


@app.callback()
def deletions() -> None:
    """Deletions of a stack on AWS."""


@app.command()
def reapply(
    ctx: typer.Context,
    stack_name: Annotated[str, typer.Option(help="Name of the stack on AWS, in the region of your AWS configuration.")],
    as_json: AsJson = False,
) -> None:
    """Repeat the recorded deletions, with your own AWS credentials, after the table was restored from a backup."""
    require_extra("stack", "`cupel deletions reapply`")
    from cupel.operators import reapply_deletions

    session = ctx.ensure_object(Session)
    count = reapply_deletions(stack_name, datetime.now(UTC))
    if as_json:
        session.print_json({"reapplied": count})
    else:
        session.out.print(
            f"reapplied {count_of(count, 'deletion')}; the sweeper erases deleted runs within the next minutes"
        )
