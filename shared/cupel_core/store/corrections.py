"""How often users have corrected results of a run: analyses that were computed before are stale."""

from pynamodb.attributes import NumberAttribute
from pynamodb.transactions import TransactWrite

from cupel_core.messages import RunRef
from cupel_core.store import keys
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
