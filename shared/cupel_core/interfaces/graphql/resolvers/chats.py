from typing import Any

from cupel_core.base.paging import Page
from cupel_core.chats import exchanges, turns
from cupel_core.contract.chat_turns import (
    TurnSummaryResponse,
)
from cupel_core.contract.chats import ExchangeResponse
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request


@resolves("Chat.exchanges", "listExchanges", 2, item_cost=5)
def chat_exchanges(
    request: Request, source: Loaded, first: int, branch_id: str | None = None, after: str | None = None
) -> dict[str, Any]:
    page = exchanges.list_exchanges(
        request.workspace,
        source["id"],
        branch_id or source["activeBranchId"],
        frozenset(),
        check_limit(first, "first"),
        check_cursor(after),
    )
    return connection(page.map(lambda each: Loaded(ExchangeResponse.of(each))))


@resolves("Chat.turns", "listTurns")
def chat_turns(request: Request, source: Loaded, limit: int, branch_id: str | None = None) -> Page[Loaded]:
    page = turns.list_turns(request.workspace, source["id"], branch_id, None, check_limit(limit), None)
    return page.map(lambda each: Loaded(TurnSummaryResponse.from_value(each, chat_id=source["id"])))
