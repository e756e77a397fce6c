"""Branches of a chat, and the messages in them."""

from collections.abc import Sequence
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.pages import bounded_page, bounded_record
from api.parameters import Cursor, Limit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
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

router = OperationRouter()

ProfileId = Annotated[
    str | None, Query(alias="profileId", description="Operation profile of the artifacts; defaults to the chat's")
]
Included = Annotated[
    Sequence[Literal["hidden", "deleted"]], Query(description="Also return messages that are hidden or deleted")
]


@router.operation("listBranches")
def list_branches(chat_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> BranchPage:
    page = slice_page(branches.list_branches(router.workspace, chat_id), limit, cursor)
    return BranchPage(items=list(map(BranchResponse.of, page.items)), next_cursor=page.next_cursor)


@router.operation("createBranch", status=201)
def create_branch(chat_id: str, body: CreateBranch) -> BranchResponse:
    request = ForkRequest(
        body.name, body.from_branch_id, body.after_exchange_id, body.include_answer, body.artifacts == "carry"
    )
    return BranchResponse.of(branches.create(router.workspace, chat_id, request, utc_now()))


@router.operation("getBranch")
def get_branch(chat_id: str, branch_id: str) -> BranchResponse:
    return BranchResponse.of(branches.get(router.workspace, chat_id, branch_id))


@router.operation("updateBranch")
def update_branch(chat_id: str, branch_id: str, body: UpdateBranch) -> BranchResponse:
    return BranchResponse.of(branches.rename(router.workspace, chat_id, branch_id, body.name, utc_now()))


@router.operation("deleteBranch", status=204)
def delete_branch(chat_id: str, branch_id: str) -> Response[None]:
    branches.delete(router.workspace, chat_id, branch_id, utc_now())
    return Response(204)


@router.operation("listBranchArtifacts")
def list_branch_artifacts(
    chat_id: str,
    branch_id: str,
    profile_id: ProfileId = None,
    include: Annotated[
        Sequence[Literal["internal"]], Query(description="Also return artifacts with the usage `internal`")
    ] = (),
) -> Rendered[BranchArtifactList]:
    session = sessions.get(router.workspace, chat_id, branch_id, profile_id, utc_now())
    shown = session.artifacts if include else session.shown_artifacts
    return bounded_record(BranchArtifactList(items=[BranchArtifactResponse.of(*each) for each in shown.items()]))


@router.operation("getBranchArtifact")
def get_branch_artifact(
    chat_id: str, branch_id: str, tag: str, profile_id: ProfileId = None
) -> Rendered[BranchArtifactResponse]:
    artifact = sessions.get_artifact(router.workspace, chat_id, branch_id, tag, profile_id, utc_now())
    return bounded_record(BranchArtifactResponse.of(tag, artifact))


@router.operation("getBranchSession")
def get_branch_session(chat_id: str, branch_id: str, profile_id: ProfileId = None) -> BranchSessionResponse:
    return BranchSessionResponse.of(sessions.get(router.workspace, chat_id, branch_id, profile_id, utc_now()))


@router.operation("resetBranchSession")
def reset_branch_session(chat_id: str, branch_id: str) -> BranchResponse:
    return BranchResponse.of(branches.reset_session(router.workspace, chat_id, branch_id, utc_now()))


@router.operation("listExchanges")
def list_exchanges(
    chat_id: str, branch_id: str, include: Included = (), limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Rendered[ExchangePage]:
    page = exchanges.list_exchanges(router.workspace, chat_id, branch_id, frozenset(include), limit, cursor)
    return bounded_page(ExchangePage, page.entries(), limit, ExchangeResponse.of)


@router.operation("listMessageVariants")
def list_message_variants(
    chat_id: str, message_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Rendered[VariantPage]:
    page = exchanges.list_variants(router.workspace, chat_id, message_id, limit, cursor)
    return bounded_page(VariantPage, page.entries(), limit, VariantResponse.of)


@router.operation("updateMessage")
def update_message(chat_id: str, branch_id: str, message_id: str, body: UpdateMessage) -> Rendered[ChatMessageResponse]:
    change = MessageChange(body.content, body.selected, body.hidden, revision=body.revision)
    shown = exchanges.update_message(router.workspace, chat_id, branch_id, message_id, change, utc_now())
    return bounded_record(ChatMessageResponse.of_shown(shown))


@router.operation("deleteMessage", status=204)
def delete_message(chat_id: str, branch_id: str, message_id: str) -> Response[None]:
    change = MessageChange(deleted=True)
    exchanges.update_message(router.workspace, chat_id, branch_id, message_id, change, utc_now())
    return Response(204)
