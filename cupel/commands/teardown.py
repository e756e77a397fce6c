from typing import Annotated

import typer

from cupel.counts import count_of
from cupel.extras import require_extra
from cupel.session import Session


def teardown(
    ctx: typer.Context,
    stack_name: Annotated[str, typer.Option(help="Name of the stack on AWS, in the region of your AWS configuration.")],
    delete_data: Annotated[
        bool, typer.Option("--delete-data", help="Also delete its table, bucket and secrets, for good.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a stack on AWS, with your own AWS credentials. Its data is kept unless --delete-data is given."""
    require_extra("stack", "`cupel teardown`")
    from cupel.operators import check_sharing, delete_stack, find_data

    session = ctx.ensure_object(Session)
    data = find_data(stack_name)
    check_sharing(stack_name, data, delete_data=delete_data)
    verb = "deletes" if delete_data else "keeps, unless DataDeletionPolicy is Delete,"
    secrets = f"{count_of(len(data.secrets), 'secret')} named {stack_name}/…"
    session.remark(
        f"this deletes the stack {stack_name}, and {verb} table {data.table}, bucket {data.bucket}, {secrets}"
    )
    if not yes and typer.prompt("Name of the stack, to confirm", err=True) != stack_name:
        raise typer.Abort
    delete_stack(stack_name, data if delete_data else None, session.remark)
