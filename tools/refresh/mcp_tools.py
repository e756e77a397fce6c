"""The response to `tools/list` of the MCP server, derived from the tools, with a line per tool.

`python -m tools.generate` writes it to shared/cupel_core/interfaces/mcp_tools.json.
"""

from typing import Any

import orjson

from cupel_core.interfaces.mcp.models import arguments_schema, result_schema
from cupel_core.interfaces.mcp.registry import McpTool, list_all_tools


def render() -> bytes:
    lines = (
        orjson.dumps({"group": each.group, "operation": each.operation.id, "tool": _described(each)})
        for each in list_all_tools()
    )
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


def _described(tool: McpTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": arguments_schema(tool.arguments),
        "outputSchema": result_schema(tool.result),
        "annotations": {"title": tool.title, **tool.annotations},
    }
