"""A leaf's log as an attribute: a list of maps, to which each commit appends one.

A page names itself, the fencing token of its worker, and its outcomes in a few bytes each: the offset and whether it is
a transcript in one byte, its identity in two, then the cost as a number of variable length. So a leaf stays small.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from cupel_core.domain.runs.leaf_log import LogEntry, LoggedOutcome, OutcomePage, Reopening
from cupel_core.domain.runs.run_spend import Cost

_CONTINUED = 0x80


def encode_page(page: OutcomePage) -> dict[str, Any]:
    outcomes = b"".join(
        bytes([offset << 1 | outcome.is_completed, outcome.identity >> 8, outcome.identity & 0xFF])
        + _encode_number(_encode_cost(outcome.cost))
        for offset, outcome in sorted(page.outcomes.items())
    )
    return {"M": {"page": {"S": page.id}, "token": {"N": str(page.fencing_token)}, "outcomes": {"B": outcomes}}}


def encode_reopening(reopening: Reopening) -> dict[str, Any]:
    offsets = bytes(sorted(reopening.taken_out))
    return {"M": {"round": {"N": str(reopening.retry_round)}, "offsets": {"B": offsets}}}


def decode(log: Mapping[str, Any]) -> Iterator[LogEntry]:
    """The entries of the attribute; none if the leaf has no log."""
    return map(_decode_entry, log.get("L", ()))


def _decode_entry(value: Mapping[str, Any]) -> LogEntry:
    fields = value["M"]
    if "round" in fields:
        return Reopening(int(fields["round"]["N"]), frozenset(bytes(fields["offsets"]["B"])))
    outcomes = _decode_outcomes(bytes(fields["outcomes"]["B"]))
    return OutcomePage(fields["page"]["S"], int(fields["token"]["N"]), outcomes)


def _decode_outcomes(encoded: bytes) -> dict[int, LoggedOutcome]:
    """By offset. One loop: whoever reads a page of results decodes thousands."""
    outcomes, at = dict[int, LoggedOutcome](), 0
    while at < len(encoded):
        first, identity, cost, shift = encoded[at], encoded[at + 1] << 8 | encoded[at + 2], 0, 0
        at += 3
        while (byte := encoded[at]) >= _CONTINUED:
            cost |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
        cost |= byte << shift
        at += 1
        outcomes[first >> 1] = LoggedOutcome(bool(first & 1), _cost(cost), identity)
    return outcomes


@lru_cache(maxsize=4_096)
def _cost(encoded: int) -> Cost:
    """Many outcomes cost the same."""
    return Cost(encoded >> 1, not encoded & 1)


def _encode_cost(cost: Cost) -> int:
    return cost.nano_usd << 1 | (not cost.is_complete)


def _encode_number(number: int) -> bytes:
    """Seven bits a byte, the lowest first; all bytes but the last have the highest bit set."""
    encoded = bytearray()
    while number >= _CONTINUED:
        encoded.append(number & 0x7F | _CONTINUED)
        number >>= 7
    return bytes([*encoded, number])
