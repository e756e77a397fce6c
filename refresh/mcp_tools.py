"""What `tools/list` of the MCP server returns, derived from the tools: functions/mcpserver/tools.json, a line per tool.

`python -m refresh.mcp_tools` writes it. Run it after a change of a tool, or of a model of the contract that tools use.
"""

from typing import Any

import orjson

from mcpserver.listing import FILE
from mcpserver.models import arguments_schema, result_schema
from mcpserver.registry import McpTool, list_all_tools


def main() -> None:
    FILE.write_bytes(render())


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


if __name__ == "__main__":
    main()
