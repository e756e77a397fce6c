"""Tickets by which a browser's EventSource, which cannot send a token, reads the events of one run.

A ticket is part of an address, and addresses get into histories and logs. So it permits nothing else, for 15 minutes,
and no longer than the token that it was issued to.
"""

import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from cupel_core.base.errors import Unauthorized
from cupel_core.base.messages import RunRef
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.store import short_lived_secrets, tokens
from cupel_core.store.short_lived_secrets import StoredTicket
from cupel_core.workspace.access.tokens import digest_of, find_live

LIFETIME = timedelta(minutes=15)


class IssuedTicket(NamedTuple):
    secret: str
    expires_at: datetime


def issue(ref: RunRef, token_id: str, now: datetime) -> IssuedTicket:
    """Issue a ticket for the events of this run, which may be used repeatedly until it expires."""
    secret = f"evt_{secrets.token_urlsafe(32)}"
    token_digest = tokens.find_digest(ref.workspace, token_id)
    short_lived_secrets.create_ticket(digest_of(secret), StoredTicket(ref, token_id, now + LIFETIME, token_digest))
    return IssuedTicket(secret, now + LIFETIME)


def identify(secret: str, method: str, path: str, now: datetime) -> Caller:
    """Return the caller who sends a request with this ticket. Raise Unauthorized unless it reads the ticket's
    events."""
    ticket = short_lived_secrets.find_ticket(digest_of(secret))
    if ticket is None:
        raise Unauthorized("the ticket is unknown")
    if ticket.expires_at <= now:
        raise Unauthorized("the ticket has expired; request another one")
    _check_token(ticket, now)
    if method not in ("GET", "HEAD") or path != events_path(ticket.ref.run_id):
        raise Unauthorized("the ticket is for the events of another run")
    return Caller(ticket.ref.workspace, AccessRole.VIEWER, ticket.token_id)


def _check_token(ticket: StoredTicket, now: datetime) -> None:
    """Raise Unauthorized if the token was revoked or has expired since. Users of an identity provider have none."""
    if ticket.token_digest is None:
        return
    refusal = "the token that the ticket was issued to was revoked, or has expired"
    try:
        state = find_live(ticket.token_digest, now)
    except Unauthorized:
        raise Unauthorized(refusal) from None
    if state is None:
        raise Unauthorized(refusal)


def events_path(run_id: str) -> str:
    return f"/v1/runs/{run_id}/events"
