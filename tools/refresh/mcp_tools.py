"""Derives the response to `tools/list` of the MCP server from the tools, with a line per tool.

`python -m tools.generate` writes it to shared/cupel_core/interfaces/mcp_tools.json. It also writes the operations that
`search_operations` finds to mcp_operations.json.
"""

from collections.abc import Iterable
from typing import Any

import orjson

from cupel_core.interfaces.mcp.exceptions import refusal
from cupel_core.interfaces.mcp.registry import AnyTool, list_all_tools
from cupel_core.interfaces.routes import load_all


def render() -> bytes:
    return _lines(
        {
            "group": each.group,
            "isDefault": each.is_default,
            "operation": each.operation and each.operation.id,
            "tool": _described(each),
        }
        for each in list_all_tools()
    )


def _described(tool: AnyTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    }


def render_operations() -> bytes:
    """Render the file that `search_operations` reads: all operations that models can call."""
    return _lines(
        {
            "id": each.id,
            "method": each.method,
            "path": each.path,
            "summary": each.summary,
            "role": each.minimum_role,
            "tag": each.tag,
            "description": each.description,
        }
        for each in load_all()
        if refusal(each) is None
    )


def _lines(entries: Iterable[dict[str, Any]]) -> bytes:
    return b"[\n" + b",\n".join(map(orjson.dumps, entries)) + b"\n]\n"
