"""Chats: conversations that people hold, with branches."""

from aws_lambda_powertools.event_handler import Response

from api.pages import bounded_page
from api.parameters import Cursor, IfMatch, Limit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.chats import catalog
from cupel_core.contract.chats import ChatPage, ChatResponse, CreateChat, UpdateChat
from cupel_core.domain.chats.chats import Chat, ChatSettings

router = OperationRouter()


@router.operation("listChats")
def list_chats(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[ChatPage]:
    listed = catalog.list_chats(router.workspace, limit, cursor)
    return bounded_page(ChatPage, listed.entries(), limit, ChatResponse.of)


@router.operation("createChat", status=201)
def create_chat(body: CreateChat) -> ChatResponse:
    settings = ChatSettings(**body.settings())
    return _tagged(catalog.create(router.workspace, settings, router.caller.token_id, utc_now()))


@router.operation("getChat")
def get_chat(chat_id: str) -> ChatResponse:
    return _tagged(catalog.get(router.workspace, chat_id))


@router.operation("updateChat")
def update_chat(chat_id: str, body: UpdateChat, if_match: IfMatch = None) -> ChatResponse:
    precondition = Precondition.parse(if_match)
    fields, branch_id = body.settings(), body.active_branch_id
    return _tagged(catalog.update(router.workspace, chat_id, fields, branch_id, utc_now(), precondition))


@router.operation("deleteChat", status=204)
def delete_chat(chat_id: str) -> Response[None]:
    catalog.delete(router.workspace, chat_id, utc_now())
    return Response(204)


def _tagged(chat: Chat) -> ChatResponse:
    return router.tagged(ChatResponse.of(chat), etag(chat.revision))
