"""`cupel delete` and `cupel deletions`: delete runs and conversations, and repeat deletions after a restore."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from cupel.commands.options import AsJson, RunId, Yes, confirm
from cupel.counts import count_of
from cupel.extras import require_extra
from cupel.session import Session

app = typer.Typer(help="Deletions of a stack on AWS.", no_args_is_help=True)


def delete(
    ctx: typer.Context,
    run_id: RunId,
    probe: Annotated[
        int | None, typer.Option(min=0, help="Only the conversation of the probe with this index; its result is kept.")
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete a run with everything that was said in it, or only what was said in one probe. It cannot be undone."""
    session = ctx.ensure_object(Session)
    what = run_id if probe is None else f"the conversation of {run_id}-{probe}"
    confirm(f"Delete {what}?", yes=yes)
    with session.connect() as client:
        if probe is None:
            client.delete_run(run_id)
        else:
            client.delete_probe_content(f"{run_id}-{probe}")
    if as_json:
        session.print_json({"runId": run_id, "probeIndex": probe, "deleted": True})
    else:
        session.out.print(f"deleted {what}", markup=False)


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
    from cupel.bootstrap import reapply_deletions

    session = ctx.ensure_object(Session)
    count = reapply_deletions(stack_name, datetime.now(UTC))
    if as_json:
        session.print_json({"reapplied": count})
    else:
        session.out.print(
            f"reapplied {count_of(count, 'deletion')}; the sweeper erases deleted runs within the next minutes"
        )
