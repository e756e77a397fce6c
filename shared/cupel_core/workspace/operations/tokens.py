from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.operation import (
    ADMIN,
    Call,
    Listed,
    Replay,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.contract.tokens import CreateToken, TokenCreatedResponse, TokenPage, TokenResponse
from cupel_core.workspace.access import tokens


@operation(
    "POST /v1/tokens",
    "Create a token",
    role=ADMIN,
    returns="The token with its secret",
    status=201,
    location="/v1/tokens/{id}",
    replay=Replay.REFUSAL,
)
def create_token(call: Call, body: CreateToken) -> TokenCreatedResponse:
    token, secret = tokens.create(call.workspace, body.role, body.name, call.now, body.expires_at)
    return TokenCreatedResponse.from_value(token, token=secret)


@operation("GET /v1/tokens", "List the tokens, newest first", role=ADMIN, returns="A page of tokens")
def list_tokens(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[TokenPage]:
    page = tokens.list_tokens(call.workspace, limit, cursor)
    return Listed(page, TokenResponse.from_value)


@operation(
    "DELETE /v1/tokens/{token_id}", "Revoke a token, effective with the next request", role=ADMIN, returns="Revoked"
)
def revoke_token(call: Call, token_id: str) -> None:
    tokens.revoke(call.workspace, token_id, call.now)
