"""Sign-in to the web page, and tickets for clients that cannot send a token."""

from cupel_core.base.messages import RunRef
from cupel_core.contract.operation import PUBLIC, VIEWER, Call, operation
from cupel_core.contract.runs import EventTicketResponse
from cupel_core.contract.service import VERSION
from cupel_core.contract.sessions import LoginCodeResponse, RedeemLoginCode, SessionResponse
from cupel_core.contract.tokens import TokenCreatedResponse
from cupel_core.store import runs
from cupel_core.workspace.access import event_tickets, sessions


@operation(
    "POST /v1/runs/{run_id}/event-tickets",
    "Create a ticket by which a browser's EventSource reads the events of a run",
    role=VIEWER,
    returns="The ticket, and the path of the stream with it",
    status=201,
    location="/v1/runs/{run_id}/events",
)
def create_event_ticket(call: Call, run_id: str) -> EventTicketResponse:
    """A ticket may be used as often as necessary for 15 minutes, for the events of this run only. It expires by
    itself, so it needs no Idempotency-Key.
    """
    ref = RunRef(call.workspace, run_id)
    runs.get(ref)
    issued = event_tickets.issue(ref, call.caller.token_id, call.now)
    path = f"{event_tickets.events_path(run_id)}?ticket={issued.secret}"
    return EventTicketResponse(ticket=issued.secret, path=path, expires_at=issued.expires_at)


@operation(
    "POST /v1/login-codes",
    "Create a code that opens a session of the web page, once",
    role=VIEWER,
    is_for_labellers=True,
    returns="The code",
    tag="session",
)
def create_login_code(call: Call) -> LoginCodeResponse:
    """A code is valid for 60 seconds and expires by itself, so it needs no Idempotency-Key. 409 for users of an
    identity provider, who sign in there.
    """
    code, expires_at = sessions.create_code(call.caller, call.now)
    return LoginCodeResponse(code=code, expires_at=expires_at)


@operation(
    "POST /v1/login-codes/redeem",
    "Exchange a login code for a token of its session",
    role=PUBLIC,
    returns="The token with its secret",
    tag="session",
)
def redeem_login_code(call: Call, body: RedeemLoginCode) -> TokenCreatedResponse:
    """The token has the role of the one that the code was created with. It ends after 12 hours, or with that one."""
    token, secret = sessions.redeem_code(body.code, call.now)
    return TokenCreatedResponse.from_value(token, token=secret)


@operation(
    "GET /v1/session",
    "Get who the caller is: workspace, role and the end of the session",
    role=VIEWER,
    is_for_labellers=True,
    returns="The session",
)
def get_session(call: Call) -> SessionResponse:
    caller, token = sessions.get_session(call.caller)
    return SessionResponse(
        workspace=caller.workspace,
        role=caller.role,
        token_id=caller.token_id,
        labeller=caller.owner_id,
        name=token.name if token else caller.user_name,
        expires_at=token.expires_at if token else None,
        version=VERSION,
    )
