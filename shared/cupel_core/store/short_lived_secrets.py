"""Short-lived secrets of web pages: codes that open a session, once, and tickets for the events of one run.

Only the SHA-256 of a secret is stored, as for tokens.
"""

from datetime import datetime
from typing import NamedTuple

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.messages import RunRef
from cupel_core.domain.access import AccessRole, LoginCode, Token
from cupel_core.store import keys, tokens
from cupel_core.store.table import Item, conditional_transaction

_CODE = "login-code"


_TICKET = "ticket"


class LoginCodeItem(Item):
    workspace = UnicodeAttribute()
    role = UnicodeAttribute()
    root_digest = UnicodeAttribute(attr_name="rootDigest")
    root_name = UnicodeAttribute(attr_name="rootName")
    expires_at = UnicodeAttribute(attr_name="expiresAt")
    session_ends_at = UnicodeAttribute(attr_name="sessionEndsAt")
    ttl = NumberAttribute()


def create_code(digest: str, code: LoginCode) -> None:
    LoginCodeItem(
        keys.token(digest),
        _CODE,
        workspace=code.workspace,
        role=code.role,
        root_digest=code.root_digest,
        root_name=code.root_name,
        expires_at=to_iso(code.expires_at),
        session_ends_at=to_iso(code.session_ends_at),
        ttl=int(code.expires_at.timestamp()),
    ).save()


def find_code(digest: str) -> LoginCode | None:
    """Return the code, even an expired one until it is erased, or None if it is unknown or was redeemed."""
    try:
        item = LoginCodeItem.get(keys.token(digest), _CODE, consistent_read=True)
    except LoginCodeItem.DoesNotExist:
        return None
    return LoginCode(
        item.workspace,
        AccessRole(item.role),
        item.root_digest,
        item.root_name,
        from_iso(item.expires_at),
        from_iso(item.session_ends_at),
    )


def redeem(digest: str, code: LoginCode, session: Token, session_digest: str) -> bool:
    """Delete the code and create the token of its session, both or neither. Return False if another request has
    redeemed the code, or the token that the session belongs to was revoked or erased."""
    with conditional_transaction() as transaction:
        transaction.delete(LoginCodeItem(keys.token(digest), _CODE), condition=LoginCodeItem.pk.exists())
        tokens.create_session(transaction, code.workspace, session, session_digest, code.root_digest)
    return transaction.is_committed


class StoredTicket(NamedTuple):
    ref: RunRef
    token_id: str
    expires_at: datetime
    token_digest: str | None = None
    """The digest of the token's secret. It is None for a user."""


class EventTicketItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    token_id = UnicodeAttribute(attr_name="tokenId")
    expires_at = UnicodeAttribute(attr_name="expiresAt")
    token_digest = UnicodeAttribute(attr_name="tokenDigest", null=True)
    ttl = NumberAttribute()


def create_ticket(digest: str, ticket: StoredTicket) -> None:
    EventTicketItem(
        keys.token(digest),
        _TICKET,
        workspace=ticket.ref.workspace,
        run_id=ticket.ref.run_id,
        token_id=ticket.token_id,
        expires_at=to_iso(ticket.expires_at),
        token_digest=ticket.token_digest,
        ttl=int(ticket.expires_at.timestamp()),
    ).save()


def find_ticket(digest: str) -> StoredTicket | None:
    """Return the ticket, even an expired one until it is erased, or None for an unknown one."""
    try:
        item = EventTicketItem.get(keys.token(digest), _TICKET, consistent_read=True)
    except EventTicketItem.DoesNotExist:
        return None
    ref = RunRef(item.workspace, item.run_id)
    return StoredTicket(ref, item.token_id, from_iso(item.expires_at), item.token_digest)
