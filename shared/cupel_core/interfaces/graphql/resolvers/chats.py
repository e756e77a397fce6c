"""Chats, their exchanges and their turns."""

from typing import Any

from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.chats import catalog, exchanges, turns
from cupel_core.chats.turns import TurnRequest
from cupel_core.contract.chat_turns import (
    StartTurn,
    TurnPromptResponse,
    TurnResponse,
    TurnSummaryResponse,
)
from cupel_core.contract.chats import ChatResponse, CreateChat, ExchangeResponse, UpdateChat
from cupel_core.domain.chats.chats import ChatSettings
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request


@resolves("Query.chat", "getChat")
def chat(request: Request, _: None, chat_id: str) -> Loaded | None:
    try:
        return Loaded(ChatResponse.of(catalog.get(request.workspace, chat_id)))
    except NotFound:
        return None


@resolves("Query.chats", "listChats")
def list_chats(request: Request, _: None, limit: int) -> Page[Loaded]:
    page = catalog.list_chats(request.workspace, check_limit(limit), None)
    return page.map(lambda each: Loaded(ChatResponse.of(each)))


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
    return page.map(lambda each: Loaded(TurnSummaryResponse.of(source["id"], each)))


@resolves("Query.turn", "getTurn", 5)
def turn(request: Request, _: None, chat_id: str, turn_id: str) -> Loaded | None:
    try:
        return Loaded(TurnResponse.of_turn(chat_id, turns.get(request.workspace, chat_id, turn_id)))
    except NotFound:
        return None


@resolves("Query.turnPrompt", "getTurnPrompt", 5)
def turn_prompt(request: Request, _: None, chat_id: str, turn_id: str) -> Loaded | None:
    try:
        return Loaded(TurnPromptResponse.of(turns.get_prompt(request.workspace, chat_id, turn_id)))
    except (Conflict, NotFound):
        return None


@resolves("Mutation.createChat", "createChat", 5)
def create_chat(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    settings = ChatSettings(**parse(CreateChat, body).settings())
    return Loaded(ChatResponse.of(catalog.create(request.workspace, settings, request.caller.token_id, request.now)))


@resolves("Mutation.updateChat", "updateChat", 5)
def update_chat(request: Request, _: None, chat_id: str, body: dict[str, Any]) -> Loaded:
    wanted = parse(UpdateChat, body)
    fields, branch_id = wanted.settings(), wanted.active_branch_id
    return Loaded(
        ChatResponse.of(catalog.update(request.workspace, chat_id, fields, branch_id, request.now, UNCONDITIONAL))
    )


@resolves("Mutation.deleteChat", "deleteChat", 5)
def delete_chat(request: Request, _: None, chat_id: str) -> bool:
    catalog.delete(request.workspace, chat_id, request.now)
    return True


@resolves("Mutation.startTurn", "startTurn", 20)
def start_turn(request: Request, _: None, chat_id: str, body: dict[str, Any]) -> Loaded:
    wanted = parse(StartTurn, body)
    accepted = turns.start(
        request.workspace,
        chat_id,
        TurnRequest(
            wanted.trigger,
            wanted.content,
            wanted.branch_id,
            wanted.profile_id,
            wanted.has_profile,
            wanted.client_request_id,
            wanted.deadline_ms,
            request.caller.token_id,
            wanted.model,
        ),
        request.now,
    )
    return Loaded(TurnResponse.of_turn(chat_id, accepted.turn))


@resolves("Mutation.abortTurn", "abortTurn", 5)
def abort_turn(request: Request, _: None, chat_id: str, turn_id: str) -> Loaded:
    return Loaded(TurnResponse.of_turn(chat_id, turns.abort(request.workspace, chat_id, turn_id, request.now)))
