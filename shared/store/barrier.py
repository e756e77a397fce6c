"""The barrier's nodes in the table. Plain client calls: the sets that a write returns are the protocol."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.domain.barrier import FANOUT, Inner, Leaf, Node, member, probes_under, root_of
from shared.domain.claims import Claim
from shared.domain.runs import Progress
from shared.messages import RunRef
from shared.settings import settings
from shared.store import keys
from shared.store.clients import dynamodb

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

_CLAIM = "claim:"
_ERROR_LENGTH = 1_000


@dataclass(frozen=True)
class LeafItem:
    """A leaf with the claims on it, by claimant, and the last error of a claimant that gave up."""

    leaf: Leaf = field(default_factory=Leaf)
    claims: Mapping[str, Claim] = field(default_factory=dict)
    last_error: str | None = None

    def others(self, claimant: str) -> list[Claim]:
        return [claim for name, claim in self.claims.items() if name != claimant]


def claim(ref: RunRef, node: Node, claimant: str, wanted: Claim) -> LeafItem:
    """Writes a claim and returns the leaf as it is with it."""
    value = {"M": {"until": {"N": str(wanted.until)}, "offsets": _number_set(wanted.offsets)}}
    return _update_leaf(ref, node, "SET #claim = :claim", {"#claim": _CLAIM + claimant}, {":claim": value})


def blame(ref: RunRef, node: Node, error: str) -> None:
    """Notes why probes of a leaf could not be carried out, for whoever finds their message dead."""
    _update_leaf(ref, node, "SET lastError = :error", {}, {":error": {"S": error[:_ERROR_LENGTH]}})


def record(ref: RunRef, node: Node, outcomes: dict[int, bool], released: Sequence[str] = ()) -> Leaf:
    """Adds outcomes (probe index → whether it completed) to a leaf, releasing claims in the same write."""
    additions: list[str] = []
    values: dict[str, Any] = {}
    for attribute, wanted in (("completed", True), ("failed", False)):
        offsets = [index % FANOUT for index, completed in outcomes.items() if completed is wanted]
        if offsets:
            additions.append(f"{attribute} :{attribute}")
            values[f":{attribute}"] = _number_set(offsets)
    names = {f"#c{number}": _CLAIM + claimant for number, claimant in enumerate(released)}
    clauses = [f"ADD {', '.join(additions)}"] if additions else []
    clauses += [f"REMOVE {', '.join(names)}"] if names else []
    if not clauses:
        return leaf(ref, node).leaf
    return _update_leaf(ref, node, " ".join(clauses), names, values).leaf


def propagate(ref: RunRef, total: int, node: Node, leaf: Leaf) -> bool:
    """Tells a full leaf upwards as far as nodes are full; whether the root is."""
    root, failed, full = root_of(total), len(leaf.failed), leaf.is_full(node, total)
    while full and node != root:
        inner = _add_member(ref, node.parent, member(node, failed))
        node, failed, full = node.parent, inner.failed, inner.is_full(node.parent, total)
    return full


def leaf(ref: RunRef, node: Node) -> LeafItem:
    """One leaf, read strongly; empty when nothing was written yet."""
    answer = dynamodb().get_item(TableName=settings().table_name, Key=_key(ref, node), ConsistentRead=True)
    return _leaf_item(answer.get("Item", {}))


def leaves(ref: RunRef, parent: Node) -> dict[int, LeafItem]:
    """The leaves below a level-1 node that have been written to, by number."""
    return {int(item["sk"]["S"]): _leaf_item(item) for item in _children(ref, parent)}


def progress(ref: RunRef, total: int) -> Progress:
    """Counts of a run. Reads what is not yet full; of full nodes the parent knows the counts."""
    root = root_of(total)
    completed, failed = _count(ref, total, root)
    return Progress(total, completed, failed)


def is_finished(ref: RunRef, total: int) -> bool:
    """Whether the root is full."""
    root = root_of(total)
    if root.level == 0:
        return leaf(ref, root).leaf.is_full(root, total)
    return _inner(ref, root).is_full(root, total)


def _count(ref: RunRef, total: int, node: Node) -> tuple[int, int]:
    """(completed, failed) below a node."""
    if node.level == 0:
        own = leaf(ref, node).leaf
        return len(own.completed), len(own.failed)
    inner = _inner(ref, node)
    first_child = node.number * FANOUT
    full = [Node(node.level - 1, first_child + child) for child in inner.full_children]
    failed = inner.failed
    completed = sum(probes_under(child, total) for child in full) - failed
    for below in _open_children(ref, total, node, inner):
        completed, failed = completed + below[0], failed + below[1]
    return completed, failed


def _open_children(ref: RunRef, total: int, node: Node, inner: Inner) -> Iterator[tuple[int, int]]:
    """(completed, failed) of each child that is not full yet."""
    if probes_under(node, total) == sum(
        probes_under(Node(node.level - 1, node.number * FANOUT + child), total) for child in inner.full_children
    ):
        return
    if node.level == 1:
        for number, item in leaves(ref, node).items():
            if number % FANOUT not in inner.full_children:
                yield len(item.leaf.completed), len(item.leaf.failed)
        return
    for number in range(node.number * FANOUT, (node.number + 1) * FANOUT):
        child = Node(node.level - 1, number)
        if number % FANOUT not in inner.full_children and probes_under(child, total):
            yield _count(ref, total, child)


def _add_member(ref: RunRef, node: Node, value: int) -> Inner:
    answer = dynamodb().update_item(
        TableName=settings().table_name,
        Key=_key(ref, node),
        UpdateExpression="ADD members :member",
        ExpressionAttributeValues={":member": _number_set([value])},
        ReturnValues="UPDATED_NEW",
    )
    return Inner(_read_set(answer["Attributes"], "members"))


def _inner(ref: RunRef, node: Node) -> Inner:
    answer = dynamodb().get_item(TableName=settings().table_name, Key=_key(ref, node), ConsistentRead=True)
    return Inner(_read_set(answer.get("Item", {}), "members"))


def _children(ref: RunRef, parent: Node) -> Iterator[dict[str, Any]]:
    pages = (
        dynamodb()
        .get_paginator("query")
        .paginate(
            TableName=settings().table_name,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={
                ":pk": {"S": keys.siblings(ref, Node(parent.level - 1, parent.number * FANOUT))}
            },
            ConsistentRead=True,
        )
    )
    for page in pages:
        yield from page["Items"]


def _update_leaf(ref: RunRef, node: Node, expression: str, names: dict[str, str], values: dict[str, Any]) -> LeafItem:
    optional: dict[str, Any] = {}
    if names:
        optional["ExpressionAttributeNames"] = names
    if values:
        optional["ExpressionAttributeValues"] = values
    answer = dynamodb().update_item(
        TableName=settings().table_name,
        Key=_key(ref, node),
        UpdateExpression=expression,
        ReturnValues="ALL_NEW",
        **optional,
    )
    return _leaf_item(answer["Attributes"])


def _leaf_item(item: dict[str, Any]) -> LeafItem:
    claims = {
        name.removeprefix(_CLAIM): Claim(_read_set(value["M"], "offsets"), float(value["M"]["until"]["N"]))
        for name, value in item.items()
        if name.startswith(_CLAIM)
    }
    error = item.get("lastError", {}).get("S")
    return LeafItem(Leaf(_read_set(item, "completed"), _read_set(item, "failed")), claims, error)


def _key(ref: RunRef, node: Node) -> dict[str, "AttributeValueTypeDef"]:
    return {"pk": {"S": keys.siblings(ref, node)}, "sk": {"S": keys.node(node.number)}}


def _number_set(numbers: Iterable[int]) -> "AttributeValueTypeDef":
    return {"NS": [str(number) for number in numbers]}


def _read_set(item: dict[str, Any], attribute: str) -> frozenset[int]:
    return frozenset(int(number) for number in item.get(attribute, {}).get("NS", ()))
