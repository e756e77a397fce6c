"""Tickets for the events of one run. Like tokens, only the SHA-256 of a ticket is stored."""

from datetime import datetime
from typing import NamedTuple

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from cupel_core.clock import from_iso, to_iso
from cupel_core.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item

_TICKET = "ticket"


class StoredTicket(NamedTuple):
    ref: RunRef
    token_id: str
    """The token, or the user, that it was issued to."""
    expires_at: datetime


class EventTicketItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    token_id = UnicodeAttribute(attr_name="tokenId")
    expires_at = UnicodeAttribute(attr_name="expiresAt")
    ttl = NumberAttribute()


def create(digest: str, ticket: StoredTicket) -> None:
    EventTicketItem(
        keys.token(digest),
        _TICKET,
        workspace=ticket.ref.workspace,
        run_id=ticket.ref.run_id,
        token_id=ticket.token_id,
        expires_at=to_iso(ticket.expires_at),
        ttl=int(ticket.expires_at.timestamp()),
    ).save()


def find(digest: str) -> StoredTicket | None:
    """The ticket, even an expired one until it is erased; None for an unknown one."""
    try:
        item = EventTicketItem.get(keys.token(digest), _TICKET, consistent_read=True)
    except EventTicketItem.DoesNotExist:
        return None
    return StoredTicket(RunRef(item.workspace, item.run_id), item.token_id, from_iso(item.expires_at))
