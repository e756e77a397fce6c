"""Calls tools of an MCP server with the official client, in one session.

Arguments: an address and a token. Each line of standard input is `{"tool", "arguments"}`; the result of each is a line
of standard output. The client checks results against the schemas of their tools.
"""

import asyncio
import json
import sys

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


async def main(address: str, token: str) -> None:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        await client.list_tools()
        while line := await asyncio.to_thread(sys.stdin.readline):
            called = json.loads(line)
            result = await client.call_tool(called["tool"], called["arguments"])
            text = result.content[0].text
            print(json.dumps({"isError": result.is_error, "content": json.loads(text)}), flush=True)


asyncio.run(main(*sys.argv[1:]))
