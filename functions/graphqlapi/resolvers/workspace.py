"""The caller, and what the workspace has configured."""

from typing import Any

from graphqlapi.registry import resolves
from graphqlapi.request import Request


@resolves("Query.me", "getSession")
async def me(request: Request, _: None) -> dict[str, Any]:
    return {"workspace": request.workspace, "role": request.caller.role, "tokenId": request.caller.token_id}
