from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson, refuse_group_options
from cupel.environment import read_variable
from cupel.errors import ApiProblem, CupelError, UsageError
from cupel.json_types import Json
from cupel.markup import escape
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import format_time

app = typer.Typer(help="Show, set, test and remove the workspace's webhook.", invoke_without_command=True)


@app.callback()
def webhook(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show, set, test and remove the workspace's webhook."""
    if ctx.invoked_subcommand:
        refuse_group_options(ctx)
        return
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        current = client.get_webhook()
    if as_json:
        session.print_json(current)
    else:
        session.out.print(_describe(current), markup=False, soft_wrap=True)


@app.command("set")
def set_webhook(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Address to call.")],
    probes: Annotated[bool, typer.Option("--probes", help="Report finished conversations too, not only runs.")] = False,
    enabled: Annotated[bool, typer.Option("--enable/--disable", help="Whether it is called.")] = True,
    secret_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Read the signing secret, whsec_…, from this variable.")
    ] = None,
    new_secret: Annotated[bool, typer.Option("--new-secret", help="Replace the secret by a new one.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set the webhook, for runs started from now on. A new secret is shown only once."""
    session = ctx.ensure_object(Session)
    body: Json = {"url": url, "probes": probes, "enabled": enabled, **_secret(secret_env, new_secret)}
    with session.connect() as client, _named_options():
        current = client.set_webhook(body)
    if as_json:
        session.print_json(current)
        return
    session.remark(_describe(current))
    if current["secret"]:
        session.remark("this secret is shown only once")
        session.out.print(current["secret"], markup=False, soft_wrap=True)


@app.command("test")
def call_webhook(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Call the webhook once with a test message; fails if its receiver does."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        result = client.test_webhook()
    if as_json:
        session.print_json(result)
    elif result["delivered"]:
        session.out.print(f"the receiver answered {result['httpStatus']} after {result['durationMs']:,} ms")
    if not result["delivered"]:
        raise CupelError(str(result["error"]))


@app.command()
def deliveries(ctx: typer.Context, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
    """List the calls of the last 14 days, newest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        print_list(session, client.list_webhook_deliveries(), limit, _deliveries_table, as_json=as_json)


@app.command()
def remove(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Remove the webhook and its secret."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.delete_webhook()
    if as_json:
        session.print_json({"removed": True})
    else:
        session.out.print("removed the webhook")


@contextmanager
def _named_options() -> Iterator[None]:
    try:
        yield
    except ApiProblem as problem:
        if [each.field for each in problem.errors] != ["secret"]:
            raise
        raise UsageError(f"--new-secret or --secret-env: {problem.errors[0].message}") from problem


def _secret(from_variable: str | None, new: bool) -> Json:
    if new and from_variable:
        raise UsageError("specify only one of --secret-env and --new-secret")
    if new:
        return {"secret": None}
    if from_variable is None:
        return {}
    secret = (read_variable(from_variable) or "").strip()
    if not secret:
        raise UsageError(f"--secret-env: {from_variable} is not set")
    return {"secret": secret}


def _deliveries_table(deliveries: Iterable[Json]) -> Table:
    columns = table(
        "time", "type", "run", "status", "attempts", "answer", "next attempt", right=["attempts"], texts=["answer"]
    )
    for item in deliveries:
        columns.add_row(
            format_time(item["createdAt"]),
            item["type"],
            item["runId"],
            item["status"],
            str(item["attempts"]),
            escape(str(item["error"] or item["httpStatus"])),
            format_time(item["nextAttemptAt"]),
        )
    return columns


def _describe(webhook: Json) -> str:
    scope = "runs and conversations" if webhook["probes"] else "runs"
    return f"{webhook['url']}: {scope}, {_state(webhook)}"


def _state(webhook: Json) -> str:
    if not webhook["enabled"]:
        return f"disabled: {webhook['disabledReason']}" if webhook["disabledReason"] else "disabled"
    if webhook["suspendedUntil"]:
        return f"{webhook['failures']} failures in a row, suspended until {webhook['suspendedUntil']}"
    return "enabled"
