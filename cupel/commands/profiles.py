from collections.abc import Iterable, Iterator
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.options import AsJson
from cupel.commands.resources import File, ResourceCommands
from cupel.errors import RefusedField
from cupel.json_types import Json
from cupel.markup import escape
from cupel.session import Session
from cupel.source_files import SourceFile
from cupel.tables import table
from cupel.terminal import NO_VALUE, format_time

app = typer.Typer(no_args_is_help=True, help="Create, check and delete operation profiles.")
ProfileId = Annotated[str, typer.Argument(metavar="PROFILE", help="The id of a profile, such as prof_01jd….")]


def _print_saved(session: Session, profile: Json) -> None:
    session.out.print(f"{profile['id']} {profile['name']} version {profile['version']}", markup=False, soft_wrap=True)
    _print_warnings(session, profile["warnings"])


RESOURCE = ResourceCommands(app, "profile", lambda _: profiles_table, ProfileId, _print_saved)
RESOURCE.add_create("Create a profile from a file.")
RESOURCE.add_list("List profiles, newest first.")


@app.command()
def show(
    ctx: typer.Context,
    profile: ProfileId,
    version: Annotated[int | None, typer.Option(min=1, help="A version; the newest by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a profile and its operations."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        shown = client.get_profile(profile, version=version)
    if as_json:
        session.print_json(shown)
        return
    session.out.print(profiles_table([shown]))
    session.out.print(f"\nmode: {shown['executionMode']}\n", markup=False)
    session.out.print(operations_table(shown["operations"]))
    _print_warnings(session, shown["warnings"])


RESOURCE.add_update("Update a profile from a file with the fields to change; other operations make the next version.")


@app.command("reset-session")
def reset_session(ctx: typer.Context, profile: ProfileId, as_json: AsJson = False) -> None:
    """Forget the artifacts that a profile's operations have stored in chats."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        reset = client.reset_profile_session(profile)
    if as_json:
        session.print_json(reset)
        return
    session.out.print(f"{reset['id']} begins afresh in every chat", markup=False, soft_wrap=True)


@app.command()
def check(ctx: typer.Context, file: File, as_json: AsJson = False) -> None:
    """Check a profile without storing it: its errors with their lines, and what a turn would run."""
    session = ctx.ensure_object(Session)
    source = SourceFile.read(file)
    with session.connect() as client, source.explaining():
        result = client.check_profile(source.mapping())
    if as_json:
        session.print_json(result)
    if result["errors"]:
        raise source.refusal(RefusedField(each["field"], each["message"]) for each in result["errors"])
    if not as_json:
        _print_plan(session, result)


RESOURCE.add_delete("Delete a profile.")


def _print_plan(session: Session, result: Json) -> None:
    for trigger, plan in result["plan"].items():
        session.out.print(f"on {trigger}:")
        session.out.print(plan_table(plan))
        for line in omission_lines(plan):
            session.out.print(line, markup=False)
    _print_warnings(session, result["warnings"])


def _print_warnings(session: Session, warnings: list[Json]) -> None:
    for line in warning_lines(warnings):
        session.remark(line)


def profiles_table(profiles: Iterable[Json]) -> Table:
    columns = table("profile", "name", "version", "enabled", "description", "updated", texts=["description"])
    for each in profiles:
        columns.add_row(
            escape(each["id"]),
            escape(each["name"]),
            str(each["version"]),
            "yes" if each["enabled"] else "no",
            escape(each["description"] or NO_VALUE),
            format_time(each["updatedAt"]),
        )
    return columns


def operations_table(operations: Iterable[Json]) -> Table:
    columns = table("operation", "kind", "hooks", "order", "required", "depends on", "tag", right=["order"])
    for each in operations:
        kind = each["kind"] if each["enabled"] else f"{each['kind']} (disabled)"
        columns.add_row(
            escape(each["id"]), kind, ", ".join(each["hooks"]), *_common_cells(each), each["artifact"]["tag"]
        )
    return columns


def plan_table(plan: Json) -> Table:
    columns = table("hook", "operation", "kind", "order", "required", "depends on", "tag", right=["order"])
    for step in plan["steps"]:
        columns.add_row(step["hook"], escape(step["operationId"]), step["kind"], *_common_cells(step), step["tag"])
    return columns


def _common_cells(operation: Json) -> tuple[str, str, str]:
    return (
        f"{operation['order']:g}",
        "yes" if operation["required"] else "no",
        ", ".join(operation["dependsOn"]) or NO_VALUE,
    )


def omission_lines(plan: Json) -> Iterator[str]:
    return (f"left out: {each['operationId']} ({each['reason']})" for each in plan["omitted"])


def warning_lines(warnings: Iterable[Json]) -> Iterator[str]:
    return (f"warning: {each['field']}: {each['message']}" for each in warnings)
