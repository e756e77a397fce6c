"""Terminal output for operation profiles."""

from collections.abc import Iterable, Iterator

from rich.table import Table

from cupel.json_types import Json
from cupel.markup import escape
from cupel.tables import table
from cupel.terminal import NO_VALUE, format_time


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
    """The operations of a profile, as they are written."""
    columns = table("operation", "kind", "hooks", "order", "required", "depends on", "tag", right=["order"])
    for each in operations:
        kind = each["kind"] if each["enabled"] else f"{each['kind']} (disabled)"
        columns.add_row(
            escape(each["id"]), kind, ", ".join(each["hooks"]), *_common_cells(each), each["artifact"]["tag"]
        )
    return columns


def plan_table(plan: Json) -> Table:
    """The operations of a turn, in the order in which their effects apply."""
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
