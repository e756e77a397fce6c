"""How many replies of a run's judge were unusable since the run was started or resumed last.

Only unusable replies are written, so a run whose judge works costs no write.
"""

from pynamodb.attributes import NumberAttribute

from cupel_core.base.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item


class UnusableRepliesItem(Item):
    replies = NumberAttribute()


def add(ref: RunRef, fencing_token: int) -> int:
    """Count one more; returns their number. A lost response may count a reply twice."""
    item = UnusableRepliesItem(keys.run(ref), keys.unusable_replies(fencing_token))
    item.update([UnusableRepliesItem.replies.add(1)])
    return int(item.replies)
