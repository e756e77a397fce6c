"""How often users have corrected results of a run: analyses that were computed before are stale."""

from collections.abc import Collection

from pynamodb.attributes import NumberAttribute
from pynamodb.transactions import TransactWrite

from cupel_core.base.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.batches import get_batch
from cupel_core.store.table import Item


class CorrectionsItem(Item):
    number = NumberAttribute(attr_name="count")


def add(transaction: TransactWrite, ref: RunRef) -> None:
    """Count a correction in the transaction that makes it."""
    transaction.update(CorrectionsItem(keys.run(ref), keys.CORRECTIONS), actions=[CorrectionsItem.number.add(1)])


def get_count(ref: RunRef) -> int:
    """How often a result of this run was corrected, or a correction removed. Strongly consistent."""
    try:
        item = CorrectionsItem.get(keys.run(ref), keys.CORRECTIONS, consistent_read=True)
    except CorrectionsItem.DoesNotExist:
        return 0
    return int(item.number)


def get_counts(refs: Collection[RunRef]) -> dict[RunRef, int]:
    """The same of several runs. One request per hundred."""
    by_key = {keys.run(ref): ref for ref in refs}
    items = get_batch({"pk": {"S": key}, "sk": {"S": keys.CORRECTIONS}} for key in by_key)
    return dict.fromkeys(refs, 0) | {by_key[item["pk"]["S"]]: int(item["count"]["N"]) for item in items}
