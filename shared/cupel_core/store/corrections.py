"""A count of how often users have corrected results of a run. Analyses computed before a correction are stale."""

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
    transaction.update(CorrectionsItem(keys.run(ref), keys.CORRECTIONS), actions=[CorrectionsItem.number.add(1)])


def get_count(ref: RunRef) -> int:
    """Return how often results of this run were corrected or a correction removed. The read is strongly consistent."""
    try:
        item = CorrectionsItem.get(keys.run(ref), keys.CORRECTIONS, consistent_read=True)
    except CorrectionsItem.DoesNotExist:
        return 0
    return int(item.number)


def get_counts(refs: Collection[RunRef]) -> dict[RunRef, int]:
    by_key = {keys.run(ref): ref for ref in refs}
    items = get_batch({"pk": {"S": key}, "sk": {"S": keys.CORRECTIONS}} for key in by_key)
    return dict.fromkeys(refs, 0) | {by_key[item["pk"]["S"]]: int(item["count"]["N"]) for item in items}
