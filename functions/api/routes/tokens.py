"""API tokens of the caller's workspace. Only an admin sees, makes or revokes them."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from pydantic import Field

from api.caller import admin
from cupel_core.access import tokens
from cupel_core.clock import utc_now
from cupel_core.contract.common import Answer, Cursor, Limit, Request, Time
from cupel_core.domain.access import Role
from cupel_core.paging import DEFAULT_LIMIT

router = APIGatewayHttpRouter()


class TokenRequest(Request):
    name: Annotated[str, Field(min_length=1, max_length=100, description="What the token is for")]
    role: Role


class TokenAnswer(Answer):
    id: str
    name: str
    role: Role
    created_at: Time
    revoked_at: Time | None


class NewTokenAnswer(TokenAnswer):
    token: Annotated[str, Field(description="The secret. It is told this once")]


class TokenList(Answer):
    items: list[TokenAnswer]
    next_cursor: str | None


@router.post("/tokens", summary="Make a token", tags=["tokens"], status_code=201)
def issue(body: TokenRequest) -> NewTokenAnswer:
    workspace = admin(router.current_event).workspace
    token, secret = tokens.issue(workspace, body.role, body.name, utc_now())
    return NewTokenAnswer(**vars(_answer(token)), token=secret)


@router.get("/tokens", summary="List the tokens, newest first", tags=["tokens"])
def listed(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> TokenList:
    page = tokens.listed(admin(router.current_event).workspace, limit, cursor)
    return TokenList(items=[_answer(token) for token in page.items], next_cursor=page.next_cursor)


@router.delete(
    "/tokens/<token_id>", summary="Revoke a token, from the next request on", tags=["tokens"], status_code=204
)
def revoke(token_id: str) -> Response[None]:
    tokens.revoke(admin(router.current_event).workspace, token_id, utc_now())
    return Response(204)


def _answer(token: tokens.Token) -> TokenAnswer:
    return TokenAnswer(
        id=token.id, name=token.name, role=token.role, created_at=token.created_at, revoked_at=token.revoked_at
    )
