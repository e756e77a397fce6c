"""Signing in to the web page."""

from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.contract.service import VERSION
from cupel_core.contract.sessions import LoginCodeResponse, RedeemLoginCode, SessionResponse
from cupel_core.contract.tokens import TokenCreatedResponse, TokenResponse
from cupel_core.workspace.access import sessions

router = OperationRouter()


@router.operation("createLoginCode")
def create_login_code() -> LoginCodeResponse:
    code, expires_at = sessions.create_code(router.caller, utc_now())
    return LoginCodeResponse(code=code, expires_at=expires_at)


@router.operation("redeemLoginCode")
def redeem_login_code(body: RedeemLoginCode) -> TokenCreatedResponse:
    token, secret = sessions.redeem_code(body.code, utc_now())
    return TokenCreatedResponse(**vars(TokenResponse.of(token)), token=secret)


@router.operation("getSession")
def get_session() -> SessionResponse:
    caller, token = sessions.get_session(router.caller)
    return SessionResponse(
        workspace=caller.workspace,
        role=caller.role,
        token_id=caller.token_id,
        name=token.name if token else caller.user_name,
        expires_at=token.expires_at if token else None,
        version=VERSION,
    )
