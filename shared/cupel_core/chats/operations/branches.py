from collections.abc import Sequence
from typing import Annotated, Literal

from cupel_core.base.paging import DEFAULT_LIMIT, slice_page
from cupel_core.chats import branches, exchanges, sessions
from cupel_core.chats.branches import ForkRequest
from cupel_core.chats.exchanges import MessageChange
from cupel_core.contract.chat_turns import BranchArtifactList, BranchArtifactResponse, BranchSessionResponse
from cupel_core.contract.chats import (
    BranchPage,
    BranchResponse,
    ChatMessageResponse,
    CreateBranch,
    ExchangePage,
    ExchangeResponse,
    UpdateBranch,
    UpdateMessage,
    VariantPage,
    VariantResponse,
)
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, Replay, ToolGroup, operation
from cupel_core.contract.query import (
    Cursor,
    Limit,
    Parameter,
)

ProfileId = Annotated[str | None, Parameter(description="Operation profile of the artifacts; defaults to the chat's")]


Included = Annotated[
    Sequence[Literal["hidden", "deleted"]], Parameter(description="Also return messages that are hidden or deleted")
]


@operation(
    "GET /v1/chats/{chat_id}/branches",
    "List the branches of a chat, oldest first",
    role=VIEWER,
    returns="A page of branches",
)
def list_branches(call: Call, chat_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[BranchPage]:
    return Listed(slice_page(branches.list_branches(call.workspace, chat_id), limit, cursor), BranchResponse.from_value)


@operation(
    "POST /v1/chats/{chat_id}/branches",
    "Fork a branch",
    role=MEMBER,
    returns="The new branch",
    status=201,
    location="/v1/chats/{chat_id}/branches/{id}",
    replay=Replay.CREATED,
)
def create_branch(call: Call, chat_id: str, body: CreateBranch) -> BranchResponse:
    """The branch shares all messages up to the fork. A later change in one branch does not appear in others."""
    request = ForkRequest(
        body.name, body.from_branch_id, body.after_exchange_id, body.include_answer, body.artifacts == "carry"
    )
    return BranchResponse.from_value(branches.create(call.workspace, chat_id, request, call.now))


@operation("GET /v1/chats/{chat_id}/branches/{branch_id}", "Get a branch", role=VIEWER, returns="The branch")
def get_branch(call: Call, chat_id: str, branch_id: str) -> BranchResponse:
    return BranchResponse.from_value(branches.get(call.workspace, chat_id, branch_id))


@operation(
    "PATCH /v1/chats/{chat_id}/branches/{branch_id}", "Rename a branch", role=MEMBER, returns="The renamed branch"
)
def update_branch(call: Call, chat_id: str, branch_id: str, body: UpdateBranch) -> BranchResponse:
    return BranchResponse.from_value(branches.rename(call.workspace, chat_id, branch_id, body.name, call.now))


@operation("DELETE /v1/chats/{chat_id}/branches/{branch_id}", "Delete a branch", role=MEMBER, returns="Deleted")
def delete_branch(call: Call, chat_id: str, branch_id: str) -> None:
    """409 for the active branch, and while a turn is in progress on it. Other branches keep what they share."""
    branches.delete(call.workspace, chat_id, branch_id, call.now)


@operation(
    "GET /v1/chats/{chat_id}/branches/{branch_id}/artifacts",
    "List the artifacts that operations have stored",
    role=VIEWER,
    returns="The persisted artifacts of the profile on this branch",
)
def list_branch_artifacts(
    call: Call,
    chat_id: str,
    branch_id: str,
    profile_id: ProfileId = None,
    include: Annotated[
        Sequence[Literal["internal"]], Parameter(description="Also return artifacts with the usage `internal`")
    ] = (),
) -> BranchArtifactList:
    """Returns the artifacts of the chat's profile unless another is named. Artifacts with the usage `internal` are left
    out unless `include` names them."""
    session = sessions.get(call.workspace, chat_id, branch_id, profile_id, call.now)
    shown = session.artifacts if include else session.shown_artifacts
    return BranchArtifactList(items=[BranchArtifactResponse.of(*each) for each in shown.items()])


@operation(
    "GET /v1/chats/{chat_id}/branches/{branch_id}/artifacts/{tag}",
    "Get an artifact that operations have stored",
    role=VIEWER,
    returns="The artifact with its history",
)
def get_branch_artifact(
    call: Call, chat_id: str, branch_id: str, tag: str, profile_id: ProfileId = None
) -> BranchArtifactResponse:
    """The artifact is that of the chat's profile unless another is named."""
    artifact = sessions.get_artifact(call.workspace, chat_id, branch_id, tag, profile_id, call.now)
    return BranchArtifactResponse.of(tag, artifact)


@operation(
    "GET /v1/chats/{chat_id}/branches/{branch_id}/session",
    "Get the session of a profile on a branch",
    role=VIEWER,
    returns="The session: what operations have stored there for later turns",
)
def get_branch_session(call: Call, chat_id: str, branch_id: str, profile_id: ProfileId = None) -> BranchSessionResponse:
    """The session is that of the chat's profile unless another is named. It begins with the first artifact,
    and lasts until a reset.
    """
    return BranchSessionResponse.from_value(sessions.get(call.workspace, chat_id, branch_id, profile_id, call.now))


@operation(
    "POST /v1/chats/{chat_id}/branches/{branch_id}/session/reset",
    "Forget the artifacts of a branch",
    role=MEMBER,
    returns="The branch, whose next turn begins without artifacts",
    is_repeatable=True,
)
def reset_branch_session(call: Call, chat_id: str, branch_id: str) -> BranchResponse:
    return BranchResponse.from_value(branches.reset_session(call.workspace, chat_id, branch_id, call.now))


@operation(
    "GET /v1/chats/{chat_id}/branches/{branch_id}/exchanges",
    "List the exchanges of a branch, newest first",
    role=VIEWER,
    returns="A page of exchanges, each with the selected variant of its messages",
    tool=AsTool(
        ToolGroup.READ,
        ("id position turnId user.content user.createdAt answer.content answer.modelId answer.createdAt"),
        is_default=True,
        max_kb=16,
        has_untrusted_texts=True,
    ),
)
def list_exchanges(
    call: Call,
    chat_id: str,
    branch_id: str,
    include: Included = (),
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[ExchangePage]:
    page = exchanges.list_exchanges(call.workspace, chat_id, branch_id, frozenset(include), limit, cursor)
    return Listed(page, ExchangeResponse.of)


@operation(
    "GET /v1/chats/{chat_id}/messages/{message_id}/variants",
    "List the variants of a message",
    role=VIEWER,
    returns="All variants, in the order in which they were made",
)
def list_message_variants(
    call: Call, chat_id: str, message_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[VariantPage]:
    page = exchanges.list_variants(call.workspace, chat_id, message_id, limit, cursor)
    return Listed(page, VariantResponse.from_value)


@operation(
    "PATCH /v1/chats/{chat_id}/branches/{branch_id}/messages/{message_id}",
    "Edit or hide a message, or select another variant",
    role=MEMBER,
    returns="The message as the branch now has it",
)
def update_message(
    call: Call, chat_id: str, branch_id: str, message_id: str, body: UpdateMessage
) -> ChatMessageResponse:
    """Later turns of this branch read it so; other branches do not change. 409 while a turn is in progress on it."""
    change = MessageChange(body.content, body.selected, body.hidden, revision=body.revision)
    shown = exchanges.update_message(call.workspace, chat_id, branch_id, message_id, change, call.now)
    return ChatMessageResponse.of_shown(shown)


@operation(
    "DELETE /v1/chats/{chat_id}/branches/{branch_id}/messages/{message_id}",
    "Take a message out of a branch",
    role=MEMBER,
    returns="Deleted",
)
def delete_message(call: Call, chat_id: str, branch_id: str, message_id: str) -> None:
    """Other branches keep it; deleting the chat erases it. 409 while a turn is in progress on the branch."""
    change = MessageChange(deleted=True)
    exchanges.update_message(call.workspace, chat_id, branch_id, message_id, change, call.now)
