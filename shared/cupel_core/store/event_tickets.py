"""Tickets for the events of one run. Like tokens, only the SHA-256 of a ticket is stored."""

from datetime import datetime
from typing import NamedTuple

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item

_TICKET = "ticket"


class StoredTicket(NamedTuple):
    ref: RunRef
    token_id: str
    """The token, or the user, that it was issued to."""
    expires_at: datetime
    token_digest: str | None = None
    """The digest of the token's secret; None for a user."""


class EventTicketItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    token_id = UnicodeAttribute(attr_name="tokenId")
    expires_at = UnicodeAttribute(attr_name="expiresAt")
    token_digest = UnicodeAttribute(attr_name="tokenDigest", null=True)
    ttl = NumberAttribute()


def create(digest: str, ticket: StoredTicket) -> None:
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


def find(digest: str) -> StoredTicket | None:
    """The ticket, even an expired one until it is erased; None for an unknown one."""
    try:
        item = EventTicketItem.get(keys.token(digest), _TICKET, consistent_read=True)
    except EventTicketItem.DoesNotExist:
        return None
    ref = RunRef(item.workspace, item.run_id)
    return StoredTicket(ref, item.token_id, from_iso(item.expires_at), item.token_digest)
