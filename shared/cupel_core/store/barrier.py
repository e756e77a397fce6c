"""The barrier's nodes in the table. Plain client calls: the sets that a write returns are the protocol."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel_core.domain.runs.barrier import FANOUT, Inner, Leaf, Node, member, probes_under, root_of
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import Progress, Run
from cupel_core.messages import RunRef
from cupel_core.settings import settings
from cupel_core.store import keys
from cupel_core.store.clients import dynamodb

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

_CLAIM = "claim:"
_ERROR_LENGTH = 1_000


class Tree(NamedTuple):
    """The barrier of a run as it is now."""

    ref: RunRef
    total: int
    generation: int = 1

    @classmethod
    def of(cls, run: Run) -> "Tree":
        return cls(RunRef(run.workspace, run.id), run.plan.total, run.generation)


@dataclass(frozen=True)
class LeafItem:
    """A leaf with the claims on it, by claimant, and the last error of a claimant that gave up."""

    leaf: Leaf = field(default_factory=Leaf)
    claims: Mapping[str, Claim] = field(default_factory=dict)
    last_error: str | None = None
    reopened: int = 0
    """The generation that last took errors out of the leaf to run them again."""

    def others(self, claimant: str) -> list[Claim]:
        return [claim for name, claim in self.claims.items() if name != claimant]


def claim(ref: RunRef, node: Node, claimant: str, wanted: Claim) -> LeafItem:
    """Writes a claim and returns the leaf as it is with it."""
    value = {"M": {"until": {"N": str(wanted.until)}, "offsets": _number_set(wanted.offsets)}}
    return _update_leaf(ref, node, "SET #claim = :claim", {"#claim": _CLAIM + claimant}, {":claim": value})


def blame(ref: RunRef, node: Node, error: str) -> None:
    """Notes why probes of a leaf could not be carried out, for whoever finds their message dead."""
    _update_leaf(ref, node, "SET lastError = :error", {}, {":error": {"S": error[:_ERROR_LENGTH]}})


def record(tree: Tree, node: Node, outcomes: dict[int, bool], released: Sequence[str] = ()) -> Leaf:
    """Adds outcomes (probe index → whether it completed) to a leaf, releasing claims in the same write.

    Refused when a later generation has reopened the leaf: its errors are not this generation's to add.
    """
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
        return leaf(tree.ref, node).leaf
    values[":generation"] = {"N": str(tree.generation)}
    condition = "attribute_not_exists(reopened) OR reopened <= :generation"
    return _update_leaf(tree.ref, node, " ".join(clauses), names, values, condition).leaf


def reopen(tree: Tree, node: Node, offsets: Iterable[int]) -> LeafItem:
    """Takes errors out of a leaf, once per generation; the leaf afterwards."""
    values = {":offsets": _number_set(offsets), ":generation": {"N": str(tree.generation)}}
    expression = "DELETE failed :offsets SET reopened = :generation"
    condition = "attribute_not_exists(reopened) OR reopened < :generation"
    return _update_leaf(tree.ref, node, expression, {}, values, condition)


def propagate(tree: Tree, node: Node, leaf: Leaf) -> bool:
    """Tells a full leaf upwards as far as nodes are full; whether the root is."""
    root, failed, full = root_of(tree.total), len(leaf.failed), leaf.is_full(node, tree.total)
    while full and node != root:
        told = _add_member(tree, node.parent, member(node, failed))
        node, failed, full = node.parent, told.failed, told.is_full(node.parent, tree.total)
    return full


def leaf(ref: RunRef, node: Node) -> LeafItem:
    """One leaf, read strongly; empty when nothing was written yet."""
    answer = dynamodb().get_item(TableName=settings().table_name, Key=_key(ref, node), ConsistentRead=True)
    return _leaf_item(answer.get("Item", {}))


def leaves(ref: RunRef, parent: Node) -> dict[int, LeafItem]:
    """The leaves below a level-1 node that have been written to, by number."""
    return {int(item["sk"]["S"]): _leaf_item(item) for item in _children(ref, parent)}


def inner(tree: Tree, node: Node) -> Inner:
    """An inner node of the tree's generation, read strongly."""
    key = _key(tree.ref, node, tree.generation)
    answer = dynamodb().get_item(TableName=settings().table_name, Key=key, ConsistentRead=True)
    return Inner(_read_set(answer.get("Item", {}), "members"))


def silent_children(tree: Tree, parent: Node) -> frozenset[int]:
    """Positions of the children of a level-1 node that are to tell it when they are full: it has not heard of them, or
    its own parent has not heard of it, and telling it once more tells that one.
    """
    known = inner(tree, parent)
    if not known.is_full(parent, tree.total):
        return frozenset(range(FANOUT)) - known.full_children
    is_told = parent == root_of(tree.total) or parent.number % FANOUT in inner(tree, parent.parent).full_children
    return frozenset() if is_told else frozenset({0})


def progress(tree: Tree) -> Progress:
    """Counts of a run. Reads what is not yet full; of full nodes the parent knows the counts."""
    completed, failed = _count(tree, root_of(tree.total))
    return Progress(tree.total, completed, failed)


def is_finished(tree: Tree) -> bool:
    """Whether the root is full."""
    root = root_of(tree.total)
    if root.level == 0:
        return leaf(tree.ref, root).leaf.is_full(root, tree.total)
    return inner(tree, root).is_full(root, tree.total)


def _count(tree: Tree, node: Node) -> tuple[int, int]:
    """(completed, failed) below a node."""
    if node.level == 0:
        own = leaf(tree.ref, node).leaf
        return len(own.completed), len(own.failed)
    known = inner(tree, node)
    full = [Node(node.level - 1, node.number * FANOUT + child) for child in known.full_children]
    covered = sum(probes_under(child, tree.total) for child in full)
    completed, failed = covered - known.failed, known.failed
    if covered < probes_under(node, tree.total):
        for below in _open_children(tree, node, known):
            completed, failed = completed + below[0], failed + below[1]
    return completed, failed


def _open_children(tree: Tree, node: Node, known: Inner) -> Iterator[tuple[int, int]]:
    """(completed, failed) of each child that is not full yet."""
    if node.level == 1:
        for number, item in leaves(tree.ref, node).items():
            if number % FANOUT not in known.full_children:
                yield len(item.leaf.completed), len(item.leaf.failed)
        return
    for number in range(node.number * FANOUT, (node.number + 1) * FANOUT):
        child = Node(node.level - 1, number)
        if number % FANOUT not in known.full_children and probes_under(child, tree.total):
            yield _count(tree, child)


def _add_member(tree: Tree, node: Node, value: int) -> Inner:
    answer = dynamodb().update_item(
        TableName=settings().table_name,
        Key=_key(tree.ref, node, tree.generation),
        UpdateExpression="ADD members :member",
        ExpressionAttributeValues={":member": _number_set([value])},
        ReturnValues="UPDATED_NEW",
    )
    return Inner(_read_set(answer["Attributes"], "members"))


def _children(ref: RunRef, parent: Node) -> Iterator[dict[str, Any]]:
    first = Node(parent.level - 1, parent.number * FANOUT)
    pages = (
        dynamodb()
        .get_paginator("query")
        .paginate(
            TableName=settings().table_name,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": _key(ref, first)["pk"]},
            ConsistentRead=True,
        )
    )
    for page in pages:
        yield from page["Items"]


def _update_leaf(
    ref: RunRef,
    node: Node,
    expression: str,
    names: dict[str, str],
    values: dict[str, Any],
    condition: str | None = None,
) -> LeafItem:
    """The leaf afterwards, also when the condition refused the write."""
    optional: dict[str, Any] = {}
    if names:
        optional["ExpressionAttributeNames"] = names
    if values:
        optional["ExpressionAttributeValues"] = values
    if condition:
        optional |= {"ConditionExpression": condition, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    client = dynamodb()
    try:
        answer = client.update_item(
            TableName=settings().table_name,
            Key=_key(ref, node),
            UpdateExpression=expression,
            ReturnValues="ALL_NEW",
            **optional,
        )
    except client.exceptions.ConditionalCheckFailedException as refusal:
        refused: dict[str, Any] = dict(refusal.response)
        return _leaf_item(refused.get("Item", {}))
    return _leaf_item(answer["Attributes"])


def _leaf_item(item: dict[str, Any]) -> LeafItem:
    claims = {
        name.removeprefix(_CLAIM): Claim(_read_set(value["M"], "offsets"), float(value["M"]["until"]["N"]))
        for name, value in item.items()
        if name.startswith(_CLAIM)
    }
    error = item.get("lastError", {}).get("S")
    reopened = int(item.get("reopened", {}).get("N", 0))
    return LeafItem(Leaf(_read_set(item, "completed"), _read_set(item, "failed")), claims, error, reopened)


def _key(ref: RunRef, node: Node, generation: int = 0) -> dict[str, Any]:
    """Leaves have no generation."""
    return {"pk": {"S": keys.siblings(ref, node, generation)}, "sk": {"S": keys.node(node.number)}}


def _number_set(numbers: Iterable[int]) -> "AttributeValueTypeDef":
    return {"NS": [str(number) for number in numbers]}


def _read_set(item: dict[str, Any], attribute: str) -> frozenset[int]:
    return frozenset(int(number) for number in item.get(attribute, {}).get("NS", ()))
