from typing import Any

from cupel_core.base.paging import Page, slice_page
from cupel_core.chats import branches, exchanges, sessions
from cupel_core.contract.chat_turns import BranchArtifactResponse, BranchSessionResponse
from cupel_core.contract.chats import (
    BranchResponse,
    VariantResponse,
)
from cupel_core.domain.chats.sessions import ProfileSession
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request


@resolves("Chat.branches", "listBranches")
def chat_branches(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = slice_page(branches.list_branches(request.workspace, source["id"]), check_limit(limit), None)
    return page.map(lambda each: Loaded(BranchResponse.from_value(each)))


@resolves("Chat.session", "getBranchSession", 2)
def session(
    request: Request, source: Loaded, branch_id: str | None = None, profile_id: str | None = None
) -> Loaded | None:
    found = _session(request, source, branch_id, profile_id)
    return Loaded(BranchSessionResponse.from_value(found)) if found else None


@resolves("Chat.artifacts", "listBranchArtifacts", 2)
def artifacts(
    request: Request, source: Loaded, limit: int, branch_id: str | None = None, profile_id: str | None = None
) -> Page[Loaded]:
    found = _session(request, source, branch_id, profile_id)
    page = slice_page(list(found.artifacts.items()) if found else [], check_limit(limit), None)
    return page.map(lambda each: Loaded(BranchArtifactResponse.of(*each)))


def _session(request: Request, source: Loaded, branch_id: str | None, profile_id: str | None) -> ProfileSession | None:
    if profile_id is None and source["profileId"] is None:
        return None
    branch = branch_id or source["activeBranchId"]
    return sessions.get(request.workspace, source["id"], branch, profile_id, request.now)


@resolves("Chat.variants", "listMessageVariants", 2, item_cost=2)
def variants(request: Request, source: Loaded, message_id: str, first: int, after: str | None = None) -> dict[str, Any]:
    page = exchanges.list_variants(
        request.workspace, source["id"], message_id, check_limit(first, "first"), check_cursor(after)
    )
    return connection(page.map(lambda each: Loaded(VariantResponse.from_value(each))))
