"""The barrier's nodes in the table. It uses plain client calls, because the protocol needs the sets that a write
returns.

Siblings share a partition, so one query reads a hundred. Progress is computed when it is read: full leaves are known to
their parents, and open leaves are read themselves. A run of a million probes takes one query for its hundred nodes of
level 1, and one for each of them that is not full. Before the run's last transition, the counts are stored in the run
(`settled`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.base.clock import to_iso, utc_now
from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import FANOUT, InnerNode, Node, encode_member, probe_count, root_of
from cupel_core.domain.runs.claims import Claim, SliceDivision, divide_slice
from cupel_core.domain.runs.column_progress import LeafCounts
from cupel_core.domain.runs.leaf_log import OutcomePage, Reopening
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Progress, Run
from cupel_core.domain.runs.run_spend import Cost, RunSpend, encode
from cupel_core.store import barrier_items
from cupel_core.store.barrier_items import (
    CLAIM_PREFIX,
    InnerItem,
    LeafItem,
    Leaves,
    State,
    decode_inner,
    decode_leaf,
    encode_claim,
    identity_of,
    node_key,
    number_set,
)
from cupel_core.store.batches import get_batch, query
from cupel_core.store.clients import dynamodb
from cupel_core.store.settings import settings

_RECORDED_AT = "recordedAt = :now"
_APPEND = "outcomeLog = list_append(if_not_exists(outcomeLog, :no_log), :entries)"
_NO_LOG: dict[str, Any] = {":no_log": {"L": []}}
_REVOKED = "0"
"""The end of a revoked claim, which stays in the leaf so that later claimants look for outcomes of its probes."""
_MAX_ERROR_LENGTH = 1_000
_MAX_ATTEMPTS = 10


class Tree(NamedTuple):
    ref: RunRef
    plan: Plan
    retry_round: int = 1

    @classmethod
    def for_run(cls, run: Run) -> "Tree":
        return cls(RunRef(run.workspace, run.id), run.plan, run.retry_round)

    @property
    def total(self) -> int:
        return self.plan.total


def acquire(
    ref: RunRef, node: Node, claimant: str, new_claim: Claim, indexes: Sequence[int], now: float
) -> SliceDivision:
    """Claim probes of a leaf and return which of them the claimant may run. Expired claims on these probes are revoked.
    Their claimants may only have been slow, and learn of it when they renew."""
    value = {":claim": encode_claim(new_claim)}
    item = _update_leaf(ref, node, "SET #claim = :claim", {"#claim": CLAIM_PREFIX + claimant}, value)
    for _ in range(_MAX_ATTEMPTS):
        others = item.claims_of_others(claimant)
        expired = {
            name: claim
            for name, claim in others.items()
            if 0 < claim.until <= now and claim.offsets & new_claim.offsets
        }
        if not expired:
            taken_out = item.log.rounds
            rounds = {index: taken_out[index % FANOUT] for index in indexes if index % FANOUT in taken_out}
            return replace(divide_slice(item.leaf, others.values(), indexes, now), rounds=rounds)
        item = _revoke(ref, node, expired)
    raise RetryableError("the claims of a leaf are being changed by others; try again")


def renew(ref: RunRef, node: Node, claimant: str, new_claim: Claim) -> bool:
    """Extend a claim. Return False if it was revoked or released; `new_claim` does not undo that."""
    item = _update_leaf(
        ref,
        node,
        "SET #claim = :claim",
        {"#claim": CLAIM_PREFIX + claimant, "#until": "until"},
        {":claim": encode_claim(new_claim), ":revoked": {"N": _REVOKED}},
        "#claim.#until > :revoked",
    )
    return item.claims.get(claimant) == new_claim


def _revoke(ref: RunRef, node: Node, expired: Mapping[str, Claim]) -> LeafItem:
    """Revoke claims unless they were renewed. Return the leaf afterwards."""
    names, values = {"#until": "until"}, {":revoked": {"N": _REVOKED}}
    for number, (claimant, claim) in enumerate(expired.items()):
        names[f"#c{number}"] = CLAIM_PREFIX + claimant
        values[f":u{number}"] = {"N": str(claim.until)}
    updates = ", ".join(f"#c{number}.#until = :revoked" for number in range(len(expired)))
    unchanged = " AND ".join(f"#c{number}.#until = :u{number}" for number in range(len(expired)))
    return _update_leaf(ref, node, f"SET {updates}", names, values, unchanged)


def revoke_claims(tree: Tree, made_before: datetime) -> None:
    """Revoke the claims that were made before a moment, because their workers are known to be dead."""
    moment = made_before.timestamp()
    for number, item in _iterate_open_leaves(tree):
        made = {name: claim for name, claim in item.claims.items() if claim.until > 0 and claim.since < moment}
        if made:
            _revoke(tree.ref, Node(0, number), made)


def _iterate_open_leaves(tree: Tree) -> Iterator[tuple[int, LeafItem]]:
    root = root_of(tree.total)
    if root.level == 0:
        yield 0, get_leaf(tree.ref, root)
        return
    for number in range(-(-tree.total // Node(1, 0).span)):
        parent = Node(1, number)
        yield from _list_open_leaves(tree, parent, get_inner(tree, parent)).items()


def note_error(ref: RunRef, node: Node, error: str) -> None:
    """Record why probes of a leaf could not be run. The dead letter shows it if their message ends there."""
    _update_leaf(ref, node, "SET lastError = :error", {}, {":error": {"S": error[:_MAX_ERROR_LENGTH]}})


def erase_error(ref: RunRef, node: Node) -> None:
    """Erase the recorded error of a leaf, which may quote one of its conversations."""
    _update_leaf(ref, node, "REMOVE lastError", {}, {}, "attribute_exists(lastError)")


def record(
    tree: Tree, node: Node, pages: Sequence[OutcomePage] = (), released: Sequence[str] = (), costs: Collection[int] = ()
) -> LeafItem:
    """Add pages to the log of a leaf, release claims and add costs as members. Return the leaf afterwards. All of it is
    one write. Which outcomes of the pages count depends on what the log contained before."""
    values: dict[str, Any] = {}
    names = {f"#c{number}": CLAIM_PREFIX + claimant for number, claimant in enumerate(released)}
    clauses = []
    if pages:
        clauses.append(f"SET {_APPEND}, {_RECORDED_AT}")
        values |= {":entries": {"L": [barrier_items.encode_page(page) for page in pages]}, **_NO_LOG, **_recorded_now()}
    if costs:
        clauses.append("ADD costs :costs")
        values[":costs"] = number_set(set(costs))
    if names:
        clauses.append(f"REMOVE {', '.join(names)}")
    return _update_leaf(tree.ref, node, " ".join(clauses), names, values) if clauses else get_leaf(tree.ref, node)


def add_checkpoint_costs(ref: RunRef, node: Node, members: Collection[int]) -> None:
    """Add the costs of unfinished conversations of a leaf, as members. Adding them again changes nothing."""
    _update_leaf(ref, node, "ADD checkpointCosts :members", {}, {":members": number_set(members)})


def add_own(ref: RunRef, node: Node, offsets: Sequence[int]) -> None:
    """Record that the outcomes of these probes may have items of their own. This happens before those items are
    written."""
    _update_leaf(ref, node, "ADD own :offsets", {}, {":offsets": number_set(offsets)})


def reopen(tree: Tree, node: Node, offsets: Sequence[int]) -> LeafItem:
    """Remove errors from a leaf, once per retry round, and return the leaf afterwards. Without offsets, it only makes
    the leaf refuse writes of earlier rounds."""
    entry = barrier_items.encode_reopening(Reopening(tree.retry_round, frozenset(offsets)))
    values: dict[str, Any] = {":retry_round": {"N": str(tree.retry_round)}, ":entries": {"L": [entry]}, **_NO_LOG}
    expression = f"SET reopened = :retry_round, {_APPEND}"
    condition = "attribute_not_exists(reopened) OR reopened < :retry_round"
    return _update_leaf(tree.ref, node, expression, {}, values, condition)


def propagate(tree: Tree, node: Node, item: LeafItem) -> bool:
    """Report a full leaf to its parent, and each node that becomes full to its own. Return whether the root is full."""
    leaf = item.leaf
    root, failed, full = root_of(tree.total), len(leaf.failed), leaf.is_full(node, tree.total)
    spend = item.spend(node, tree.plan) if full else RunSpend()
    while full and node != root:
        parent, spend, _ = _add_member(tree, node.parent, encode_member(node, failed), _spend_of(node, spend))
        node, failed, full = node.parent, parent.failed, parent.is_full(node.parent, tree.total)
    return full


def _spend_of(child: Node, spend: RunSpend) -> dict[str, list[int]]:
    position = child.number % FANOUT
    members = {"costs": list(spend.as_child(position))}
    return members | ({"lostCosts": [encode(position, spend.lost)]} if spend.lost != Cost() else {})


def get_leaf(ref: RunRef, node: Node) -> LeafItem:
    """Return a leaf, or an empty one if nothing was written yet. The read is strongly consistent."""
    response = dynamodb().get_item(TableName=settings().table_name, Key=node_key(ref, node), ConsistentRead=True)
    return decode_leaf(response.get("Item", {}))


def get_leaves(ref: RunRef, numbers: Sequence[int]) -> dict[int, LeafItem]:
    return {number: leaf for (_, number), leaf in get_leaves_of([(ref, number) for number in numbers]).items()}


def get_leaves_of(wanted: Collection[tuple[RunRef, int]]) -> dict[tuple[RunRef, int], LeafItem]:
    """Return leaves by run and number with one request per hundred leaves. The reads are strongly consistent."""
    by_key = {identity_of(node_key(ref, Node(0, number))): (ref, number) for ref, number in wanted}
    items = get_batch(node_key(ref, Node(0, number)) for ref, number in by_key.values())
    written = {by_key[identity_of(item)]: decode_leaf(item) for item in items}
    return {each: written.get(each) or LeafItem() for each in wanted}


def list_leaves(ref: RunRef, parent: Node, first: int = 0) -> dict[int, LeafItem]:
    return {int(item["sk"]["S"]): decode_leaf(item) for item in _children(ref, parent, first)}


def get_inner(tree: Tree, node: Node) -> InnerNode:
    return _get_inner_item(tree, node).node


def _get_inner_item(tree: Tree, node: Node) -> InnerItem:
    key = node_key(tree.ref, node, tree.retry_round)
    response = dynamodb().get_item(TableName=settings().table_name, Key=key, ConsistentRead=True)
    return decode_inner(response.get("Item", {}))


def _recorded_now() -> dict[str, Any]:
    return {":now": {"S": to_iso(utc_now())}}


def unreported_children(tree: Tree, parent: Node, positions: Collection[int]) -> frozenset[int]:
    """Return which of these children of a level-1 node must report to it if they are full. These are the children that
    it does not know as full. If the node is full but its own parent does not know it, any child does: reporting that
    one again also reports the node to its parent."""
    known = get_inner(tree, parent)
    if not known.is_full(parent, tree.total):
        return frozenset(positions) - known.full_children
    is_reported = (
        parent == root_of(tree.total) or parent.number % FANOUT in get_inner(tree, parent.parent).full_children
    )
    return frozenset() if is_reported else frozenset({min(positions)})


def get_progress(tree: Tree) -> Progress:
    return get_state(tree).progress


def get_state(tree: Tree) -> State:
    return read_leaves(tree).state


def is_finished(tree: Tree) -> bool:
    root = root_of(tree.total)
    if root.level == 0:
        return get_leaf(tree.ref, root).leaf.is_full(root, tree.total)
    return get_inner(tree, root).is_full(root, tree.total)


def count_recorded(tree: Tree, indexes: range) -> int:
    return sum(_count_recorded(tree, leaf, indexes) for leaf in read_leaves(tree).leaves)


def _count_recorded(tree: Tree, leaf: LeafCounts, indexes: range) -> int:
    node = Node(0, leaf.number)
    if leaf.detail is None:
        return len(_overlap(indexes, node, tree.total))
    return sum(node.first_index + offset in indexes for offset in leaf.detail.leaf.recorded)


def _overlap(indexes: range, node: Node, total: int) -> range:
    end = node.first_index + probe_count(node, total)
    return range(max(indexes.start, node.first_index), min(indexes.stop, end))


def read_leaves(tree: Tree) -> Leaves:
    """Read the leaves that were written to: full ones from their parents, the others themselves. A run of a million
    probes takes one query for its hundred nodes of level 1, and one for each that is not full."""
    branches = list(_read_branches(tree))
    leaves = [leaf for branch in branches for leaf in branch.leaves]
    progress = Progress(tree.total, sum(leaf.completed for leaf in leaves), sum(leaf.failed for leaf in leaves))
    moments = [branch.recorded_at for branch in branches if branch.recorded_at]
    spend = sum((branch.spend for branch in branches), RunSpend())
    return Leaves(State(progress, spend, max(moments, default=None)), leaves)


class _Branch(NamedTuple):
    leaves: list[LeafCounts]
    spend: RunSpend
    recorded_at: datetime | None


def _read_branches(tree: Tree) -> Iterator[_Branch]:
    if root_of(tree.total).level == 0:
        leaf = get_leaf(tree.ref, Node(0, 0))
        yield _Branch([leaf.counts(0)], leaf.spend(Node(0, 0), tree.plan), leaf.recorded_at)
        return
    above = (Node(2, number) for number in range(-(-tree.total // Node(2, 0).span)))
    items = {int(item["sk"]["S"]): item for node in above for item in _children(tree.ref, node, 0, tree.retry_round)}
    for number in range(-(-tree.total // Node(1, 0).span)):
        yield _read_branch(tree, Node(1, number), decode_inner(items.get(number, {})))


def _read_branch(tree: Tree, parent: Node, known: InnerItem) -> _Branch:
    first = parent.number * FANOUT
    leaves: dict[int, LeafCounts] = {}
    for position, failed in known.node.failed_by_child.items():
        covered = probe_count(Node(0, first + position), tree.total)
        leaves[first + position] = LeafCounts(first + position, covered - failed, failed)
    spend, moments = known.spend, [known.recorded_at]
    for number, item in _list_open_leaves(tree, parent, known.node).items():
        leaves[number] = item.counts(number)
        spend += item.spend(Node(0, number), tree.plan)
        moments.append(item.recorded_at)
    return _Branch([leaves[number] for number in sorted(leaves)], spend, max(filter(None, moments), default=None))


def _list_open_leaves(tree: Tree, parent: Node, known: InnerNode) -> dict[int, LeafItem]:
    if known.is_full(parent, tree.total):
        return {}
    first_open = next(position for position in range(FANOUT) if position not in known.full_children)
    leaves = list_leaves(tree.ref, parent, parent.number * FANOUT + first_open)
    return {number: item for number, item in leaves.items() if number % FANOUT not in known.full_children}


def _add_member(tree: Tree, node: Node, value: int, spend: Mapping[str, Collection[int]]) -> InnerItem:
    members = {"members": [value], **spend}
    response = dynamodb().update_item(
        TableName=settings().table_name,
        Key=node_key(tree.ref, node, tree.retry_round),
        UpdateExpression=f"ADD {', '.join(f'{name} :{name}' for name in members)} SET {_RECORDED_AT}",
        ExpressionAttributeValues={f":{name}": number_set(added) for name, added in members.items()} | _recorded_now(),
        ReturnValues="ALL_NEW",
    )
    return decode_inner(dict(response["Attributes"]))


def _children(ref: RunRef, parent: Node, first: int = 0, retry_round: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the items below an inner node, from number `first` on. Leaves are the same in every retry round."""
    key = node_key(ref, Node(parent.level - 1, max(first, parent.number * FANOUT)), retry_round)
    return query("pk = :pk AND sk >= :first", {":pk": key["pk"], ":first": key["sk"]})


def _update_leaf(
    ref: RunRef,
    node: Node,
    expression: str,
    names: dict[str, str],
    values: dict[str, Any],
    condition: str | None = None,
) -> LeafItem:
    optional: dict[str, Any] = {}
    if names:
        optional["ExpressionAttributeNames"] = names
    if values:
        optional["ExpressionAttributeValues"] = values
    if condition:
        optional |= {"ConditionExpression": condition, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    client = dynamodb()
    try:
        response = client.update_item(
            TableName=settings().table_name,
            Key=node_key(ref, node),
            UpdateExpression=expression,
            ReturnValues="ALL_NEW",
            **optional,
        )
    except client.exceptions.ConditionalCheckFailedException as error:
        rejection: dict[str, Any] = dict(error.response)
        return decode_leaf(rejection.get("Item", {}))
    return decode_leaf(response["Attributes"])
