"""The items of a barrier's nodes: leaves with their claims and logs, and inner nodes with their members.

A leaf's log is an attribute: a list of maps, to which each commit appends one. A page names itself, the fencing token
of its worker, and its outcomes in a few bytes each: one byte for the offset and whether the outcome is a transcript,
two for its identity, then the cost as a number of variable length. So a leaf stays small.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from cupel_core.base.clock import from_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import InnerNode, Leaf, Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.column_progress import LeafCounts, LeafDetail
from cupel_core.domain.runs.leaf_log import LogContent, LogEntry, LoggedOutcome, OutcomePage, Reopening, resolve
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Progress
from cupel_core.domain.runs.run_spend import Cost, RunSpend, inner_spend, leaf_spend
from cupel_core.domain.runs.slow_calls import SlowCall
from cupel_core.store import keys

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

_CONTINUED = 0x80


CLAIM_PREFIX = "claim:"


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


def decode_log(log: Mapping[str, Any]) -> Iterator[LogEntry]:
    return map(_decode_entry, log.get("L", ()))


def _decode_entry(value: Mapping[str, Any]) -> LogEntry:
    fields = value["M"]
    if "round" in fields:
        return Reopening(int(fields["round"]["N"]), frozenset(bytes(fields["offsets"]["B"])))
    outcomes = _decode_outcomes(bytes(fields["outcomes"]["B"]))
    return OutcomePage(fields["page"]["S"], int(fields["token"]["N"]), outcomes)


def _decode_outcomes(encoded: bytes) -> dict[int, LoggedOutcome]:
    """Return the outcomes by offset. It is one loop for speed: reading a page of results decodes thousands."""
    outcomes, at = dict[int, LoggedOutcome](), 0
    while at < len(encoded):
        first, identity, cost, shift = encoded[at], encoded[at + 1] << 8 | encoded[at + 2], 0, 0
        at += 3
        while (byte := encoded[at]) >= _CONTINUED:
            cost |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
        cost |= byte << shift
        at += 1
        outcomes[first >> 1] = LoggedOutcome(bool(first & 1), _cost_of(cost), identity)
    return outcomes


@lru_cache(maxsize=4_096)
def _cost_of(encoded: int) -> Cost:
    """Return the decoded cost. It is cached, because many outcomes cost the same."""
    return Cost(encoded >> 1, not encoded & 1)


def _encode_cost(cost: Cost) -> int:
    return cost.nano_usd << 1 | (not cost.is_complete)


def _encode_number(number: int) -> bytes:
    """Encode a number as seven bits per byte, the lowest first. All bytes but the last have the highest bit set."""
    encoded = bytearray()
    while number >= _CONTINUED:
        encoded.append(number & 0x7F | _CONTINUED)
        number >>= 7
    return bytes([*encoded, number])


class InnerItem(NamedTuple):
    node: InnerNode
    spend: RunSpend
    recorded_at: datetime | None


@dataclass(frozen=True)
class LeafItem:
    leaf: Leaf = field(default_factory=Leaf)
    claims: Mapping[str, Claim] = field(default_factory=dict)
    last_error: str | None = None
    reopened_in_round: int = 0
    """The last retry round that removed errors from the leaf, so that their probes run again."""
    log: LogContent = field(default_factory=LogContent)
    own: frozenset[int] = frozenset()
    """Offsets whose outcomes may have an item of their own. Such an item counts instead of the entry in a page."""
    added_costs: frozenset[int] = frozenset()
    checkpoint_costs: frozenset[int] = frozenset()
    """Costs added to outcomes, and costs of unfinished conversations, as members of number sets
    (`domain/runs/run_spend.py`)."""
    recorded_at: datetime | None = None

    @property
    def costs(self) -> frozenset[int]:
        """Return the encoded costs of the outcomes: those in the log, and those added later."""
        return self.added_costs | self.log.costs

    def spend(self, node: Node, plan: Plan) -> RunSpend:
        def column_of(offset: int) -> int:
            return plan.probe(node.first_index + offset).column

        return leaf_spend(self.costs, self.log.lost, self.checkpoint_costs, column_of)

    def round_of(self, offset: int, conversation_round: int) -> int:
        """Return the retry round in which a probe's conversation started; `conversation_round` is that of the other
        probes."""
        return max(conversation_round, self.log.rounds.get(offset, conversation_round))

    @property
    def failure_cause(self) -> str:
        return self.last_error or "its worker died each time"

    def called_since(self, offset: int) -> datetime | None:
        """Return when the last worker that claims a probe made its first call for it, or None if none is known. Earlier
        claims may be of earlier retry rounds."""
        since = max((claim.calling[offset] for claim in self.claims.values() if offset in claim.calling), default=None)
        return None if since is None else datetime.fromtimestamp(since, UTC)

    def claims_of_others(self, claimant: str) -> dict[str, Claim]:
        return {name: claim for name, claim in self.claims.items() if name != claimant}

    def counts(self, number: int) -> LeafCounts:
        detail = LeafDetail(self.leaf, tuple(self.claims.values()))
        return LeafCounts(number, len(self.leaf.completed), len(self.leaf.failed), detail)


def encode_claim(claim: Claim) -> dict[str, Any]:
    calls = {"calls": {"S": orjson.dumps(list(map(list, claim.slow_calls))).decode()}} if claim.slow_calls else {}
    calling = {"calling": {"S": orjson.dumps(list(claim.calling.items())).decode()}} if claim.calling else {}
    times = {"until": {"N": str(claim.until)}, "since": {"N": str(claim.since)}}
    return {"M": {**times, "offsets": number_set(claim.offsets), **calling, **calls}}


def _read_claim(value: dict[str, Any]) -> Claim:
    calls = tuple(SlowCall(*call) for call in orjson.loads(value["calls"]["S"])) if "calls" in value else ()
    calling = dict[int, float](orjson.loads(value["calling"]["S"])) if "calling" in value else {}
    until, since = float(value["until"]["N"]), float(value["since"]["N"])
    return Claim(_read_set(value, "offsets"), until, since, calling, calls)


def decode_inner(item: dict[str, Any]) -> InnerItem:
    node = InnerNode(_read_set(item, "members"))
    spend = inner_spend(_read_set(item, "costs"), _read_set(item, "lostCosts"))
    return InnerItem(node, spend, _read_recorded_at(item))


def _read_recorded_at(item: Mapping[str, Any]) -> datetime | None:
    return from_iso(item["recordedAt"]["S"]) if "recordedAt" in item else None


def decode_leaf(item: Mapping[str, Any]) -> LeafItem:
    """Decode a stored leaf. It is empty if nothing was written yet."""
    claims = {
        name.removeprefix(CLAIM_PREFIX): _read_claim(value["M"])
        for name, value in item.items()
        if name.startswith(CLAIM_PREFIX)
    }
    log = resolve(decode_log(item.get("outcomeLog", {})))
    return LeafItem(
        log.leaf(),
        claims,
        item.get("lastError", {}).get("S"),
        int(item.get("reopened", {}).get("N", 0)),
        log,
        own=_read_set(item, "own"),
        added_costs=_read_set(item, "costs"),
        checkpoint_costs=_read_set(item, "checkpointCosts"),
        recorded_at=_read_recorded_at(item),
    )


def number_set(numbers: Iterable[int]) -> "AttributeValueTypeDef":
    return {"NS": [str(number) for number in numbers]}


def _read_set(item: Mapping[str, Any], attribute: str) -> frozenset[int]:
    return frozenset(int(number) for number in item.get(attribute, {}).get("NS", ()))


class State(NamedTuple):
    progress: Progress
    spend: RunSpend
    recorded_at: datetime | None = None


class Leaves(NamedTuple):
    state: State
    leaves: list[LeafCounts]


def node_key(ref: RunRef, node: Node, retry_round: int = 0) -> dict[str, Any]:
    """Return the key of a node. That of a leaf is the same in every retry round."""
    return {"pk": {"S": keys.barrier_nodes(ref, node, retry_round)}, "sk": {"S": keys.barrier_node(node.number)}}


def identity_of(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]
