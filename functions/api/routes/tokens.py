"""API tokens of the caller's workspace."""

from aws_lambda_powertools.event_handler import Response

from api.parameters import Cursor, Limit
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.tokens import CreateToken, TokenCreatedResponse, TokenPage, TokenResponse
from cupel_core.workspace.access import tokens

router = OperationRouter()


@router.operation("createToken", status=201)
def create_token(body: CreateToken) -> TokenCreatedResponse:
    token, secret = tokens.create(router.workspace, body.role, body.name, utc_now(), body.expires_at)
    return TokenCreatedResponse(**vars(TokenResponse.of(token)), token=secret)


@router.operation("listTokens")
def list_tokens(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> TokenPage:
    page = tokens.list_tokens(router.workspace, limit, cursor)
    return TokenPage(items=[TokenResponse.of(token) for token in page.items], next_cursor=page.next_cursor)


@router.operation("revokeToken", status=204)
def revoke_token(token_id: str) -> Response[None]:
    tokens.revoke(router.workspace, token_id, utc_now())
    return Response(204)
