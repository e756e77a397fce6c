"""Uses an MCP server with the official client, and prints what it received as JSON.

Arguments: the mode of the client (`auto`, `legacy` or a version), the run to read, and either an address and a token,
or a command with its arguments.
"""

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp import StdioServerParameters
from mcp.client import Client, session
from mcp.client.streamable_http import streamable_http_client

session.DISCOVER_TIMEOUT_SECONDS = 120.0
"""After its ten seconds, the client takes a command that starts slowly, on a busy machine, for an old server."""


async def use(client: Client, run_id: str) -> dict[str, Any]:
    """The client checks results against the schemas of their tools."""
    tools = await client.list_tools()
    run = await client.call_tool("get_run", {"run_id": run_id})
    results = await client.call_tool("get_run_results", {"run_id": run_id, "limit": 2})
    refused = await client.call_tool("get_run", {"run_id": "run_none"})
    resources = await client.list_resources()
    templates = await client.list_resource_templates()
    guide = await client.read_resource("cupel://authoring/guide")
    prompts = await client.list_prompts()
    prompt = await client.get_prompt("analyze-run", {"run_id": run_id})
    return {
        "version": client.session.protocol_version,
        "tools": len(tools.tools),
        "run": [run.structured_content["id"], run.structured_content["status"]],
        "results": len(results.structured_content["items"]),
        "notice": "notice" in results.structured_content,
        "refused": [refused.is_error, json.loads(refused.content[0].text)["status"]],
        "resources": len(resources.resources),
        "templates": len(templates.resource_templates),
        "guide": guide.contents[0].text.splitlines()[0],
        "prompts": [each.name for each in prompts.prompts],
        "prompt": run_id in prompt.messages[0].content.text,
    }


async def main(mode: str, run_id: str, *server: str) -> None:
    if not server[0].startswith("http"):
        async with Client(StdioServerParameters(command=server[0], args=list(server[1:])), mode=mode) as client:
            print(json.dumps(await use(client, run_id)))
        return
    address, token = server
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=mode) as client:
            print(json.dumps(await use(client, run_id)))


asyncio.run(main(*sys.argv[1:]))
