"""`cupel tokens` manages API tokens."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cupel.commands.options import AsJson
from cupel.commands.resources import ResourceCommands
from cupel.extras import require_extra
from cupel.json_types import Json
from cupel.markup import escape
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import format_time
from cupel_core.base.clock import to_iso
from cupel_core.domain.access import AccessRole

if TYPE_CHECKING:
    from cupel.stack.address import FirstToken

app = typer.Typer(help="List, create and revoke API tokens.", invoke_without_command=True)

Name = Annotated[str, typer.Option(help="Name of the token.")]
Role = Annotated[
    AccessRole,
    typer.Option(
        help="Viewers may read, members may also write, admins may also manage tokens; labellers may only label."
    ),
]


ResourceCommands(app, "token", lambda _: _table).list_by_default()


@app.command()
def create(
    ctx: typer.Context,
    name: Name,
    role: Role = AccessRole.MEMBER,
    expires_in_days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Days after which the token is refused; default: never.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a token. It is shown only once."""
    session = ctx.ensure_object(Session)
    expires_at = None if expires_in_days is None else to_iso(datetime.now(UTC) + timedelta(days=expires_in_days))
    with session.connect() as client:
        created = client.create_token(name, role, expires_at=expires_at)
    print_secret(session, created, as_json=as_json)


@app.command()
def revoke(
    ctx: typer.Context,
    token_id: Annotated[str, typer.Argument(metavar="TOKEN", help="The id of a token, such as tok_01jd3v….")],
    as_json: AsJson = False,
) -> None:
    """Revoke a token; the next request with it is refused."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.revoke_token(token_id)
    if as_json:
        session.print_json({"id": token_id, "revoked": True})
    else:
        session.out.print(f"revoked {token_id}", markup=False)


@app.command()
def bootstrap(
    ctx: typer.Context,
    stack_name: Annotated[
        str | None,
        typer.Option(
            help="Name of a stack on AWS, in the region of your AWS configuration; default: the local stack.",
            show_default=False,
        ),
    ] = None,
    workspace: Annotated[str, typer.Option(help="Workspace of the token; it may be a new one.")] = "default",
    operator: Annotated[
        bool,
        typer.Option("--operator", help="Write a token that may create, list and erase workspaces, and nothing else."),
    ] = False,
    name: Name = "first admin",
    as_json: AsJson = False,
) -> None:
    """Write the first admin token of a workspace: of the local stack, or of one on AWS with your own AWS credentials.

    The API refuses all calls until a token exists. The credentials must allow describing the stack and writing to its
    table.
    """
    require_extra("stack", "`cupel tokens bootstrap`")
    role = AccessRole.OPERATOR if operator else AccessRole.ADMIN
    session = ctx.ensure_object(Session)
    first = _issue_first_token(stack_name, workspace, name, role)
    if as_json:
        session.print_json({"apiUrl": first.api_url, "tokenId": first.token_id, "token": first.secret})
        return
    session.remark("this token is shown only once")
    session.out.print(f"export CUPEL_API_URL={quote(first.api_url)}", markup=False, soft_wrap=True)
    session.out.print(f"export CUPEL_TOKEN={first.secret}", markup=False, soft_wrap=True)


def _issue_first_token(stack_name: str | None, workspace: str, name: str, role: AccessRole) -> "FirstToken":
    if stack_name is not None:
        from cupel.operators import issue_first_token

        return issue_first_token(stack_name, workspace, name, datetime.now(UTC), role)
    from cupel.stack import lifecycle
    from cupel.stack.paths import find_stack_paths

    return lifecycle.issue_first_token(find_stack_paths(Path.cwd()), workspace, name, role)


def _table(tokens: Iterable[Json]) -> Table:
    columns = table("token", "name", "role", "created", "last used", "expires", "revoked", texts=["name"])
    for token in tokens:
        columns.add_row(
            token["id"],
            escape(token["name"]),
            token["role"],
            format_time(token["createdAt"]),
            format_time(token.get("lastUsedAt")),
            format_time(token.get("expiresAt")),
            format_time(token["revokedAt"]),
        )
    return columns


def print_secret(session: Session, created: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(created)
        return
    session.remark(f"{created['id']} ({created['role']}) is shown only once")
    session.out.print(created["token"], markup=False, soft_wrap=True)
