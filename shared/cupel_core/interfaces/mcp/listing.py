"""Lists the tools of a caller for `tools/list` from a generated file.

Every session begins with this list, often on a cold start. To describe the tools, all of their modules would have to be
imported, which takes several times as long as all other work of a cold start.
"""

from functools import cache
from pathlib import Path
from typing import Any

import orjson

import cupel_core
from cupel_core.contract.operation import ToolGroup
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.routes import ROUTES

_FILE = Path(cupel_core.__file__).parent / "interfaces/mcp_tools.json"
"""`python -m tools.generate` writes this file. It maps a tool to its group, its operation and its description. The
operation is null for a tool that every role may call."""


def list_tools(request: ToolRequest) -> list[dict[str, Any]]:
    return _select(request.caller.role, request.groups, with_output=request.with_output_schemas)


@cache
def _select(role: AccessRole, groups: frozenset[ToolGroup] | None, *, with_output: bool) -> list[dict[str, Any]]:
    permitted = {operation.id for operation in ROUTES.values() if operation.permits(role)}
    chosen = [each for each in read_tools() if (each["isDefault"] if groups is None else each["group"] in groups)]
    left_out = () if with_output else ("outputSchema",)
    return [
        {name: value for name, value in each["tool"].items() if name not in left_out}
        for each in chosen
        if each["operation"] is None or each["operation"] in permitted
    ]


@cache
def read_tools() -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = orjson.loads(_FILE.read_bytes())
    return tools


def find_listed(name: str) -> dict[str, Any] | None:
    return _by_name().get(name)


@cache
def _by_name() -> dict[str, dict[str, Any]]:
    return {each["tool"]["name"]: each for each in read_tools()}
