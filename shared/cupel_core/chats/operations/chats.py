from typing import Annotated

from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import etag
from cupel_core.chats import catalog
from cupel_core.contract.chats import ChatPage, ChatResponse, CreateChat, UpdateChat
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, Replay, Tagged, ToolGroup, operation
from cupel_core.contract.query import (
    Cursor,
    Limit,
    Parameter,
)
from cupel_core.domain.chats.chats import Chat, ChatSettings


@operation(
    "GET /v1/chats",
    "List the chats, newest first",
    role=VIEWER,
    returns="A page of chats",
    tool=AsTool(
        ToolGroup.READ,
        "id title target.model activeBranchId branchCount updatedAt",
        is_default=True,
        max_kb=6,
        has_untrusted_texts=True,
    ),
)
def list_chats(
    call: Call,
    playground: Annotated[bool, Parameter(description="Return the chats of the playground, and no others")] = False,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[ChatPage]:
    listed = catalog.list_chats(call.workspace, limit, cursor, playground=playground)
    return Listed(listed, ChatResponse.from_value)


@operation(
    "POST /v1/chats",
    "Create a chat",
    role=MEMBER,
    returns="The chat, with one empty branch",
    status=201,
    location="/v1/chats/{id}",
    replay=Replay.CREATED,
)
def create_chat(call: Call, body: CreateChat) -> Tagged[ChatResponse]:
    settings = ChatSettings(**body.settings())
    chat = catalog.create(call.workspace, settings, call.caller.token_id, call.now, playground=body.playground)
    return _tagged(chat)


@operation(
    "GET /v1/chats/{chat_id}",
    "Get a chat",
    role=VIEWER,
    returns="The chat",
    tool=AsTool(
        ToolGroup.READ,
        "id title target.model system activeBranchId branchCount updatedAt",
        max_kb=8,
        has_untrusted_texts=True,
    ),
)
def get_chat(call: Call, chat_id: str) -> Tagged[ChatResponse]:
    return _tagged(catalog.get(call.workspace, chat_id))


@operation("PATCH /v1/chats/{chat_id}", "Update a chat", role=MEMBER, returns="The updated chat", if_match=True)
def update_chat(call: Call, chat_id: str, body: UpdateChat) -> Tagged[ChatResponse]:
    fields, branch_id = body.settings(), body.active_branch_id
    return _tagged(catalog.update(call.workspace, chat_id, fields, branch_id, call.now, call.precondition))


@operation(
    "DELETE /v1/chats/{chat_id}", "Delete a chat and everything that was said in it", role=MEMBER, returns="Deleted"
)
def delete_chat(call: Call, chat_id: str) -> None:
    """Unreadable at once, and erased within a day."""
    catalog.delete(call.workspace, chat_id, call.now)


def _tagged(chat: Chat) -> Tagged[ChatResponse]:
    return Tagged(ChatResponse.from_value(chat), etag(chat.revision))
