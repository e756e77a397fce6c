"""What came of comparing the answers of several targets. Whoever is first decides, for one generation of a run."""

from datetime import datetime

from pynamodb.attributes import JSONAttribute, NumberAttribute
from pynamodb.exceptions import PutError

from cupel_core.domain.scoring.selections import Contest
from cupel_core.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item, code_of

OF_RUN = "run"
"""The scoring that the transcripts themselves carry."""


class ContestItem(Item):
    generation = NumberAttribute()
    body = JSONAttribute()
    ttl = NumberAttribute(null=True)


def get(ref: RunRef, scoring: str, index: int, number: int) -> Contest | None:
    """`index` is the first of the rivals, `number` that of the assertion."""
    try:
        item = ContestItem.get(keys.contests(ref, scoring, index), keys.at(index, number), consistent_read=True)
    except ContestItem.DoesNotExist:
        return None
    return Contest.from_json(item.body)


def put(ref: RunRef, scoring: str, index: int, number: int, contest: Contest, expires_at: datetime | None) -> Contest:
    """The one that stands: this one, unless somebody else has held it in the same generation."""
    item = ContestItem(
        keys.contests(ref, scoring, index),
        keys.at(index, number),
        generation=contest.generation,
        body=contest.to_json(),
        ttl=int(expires_at.timestamp()) if expires_at else None,
    )
    try:
        item.save(condition=ContestItem.pk.does_not_exist() | (ContestItem.generation < contest.generation))
    except PutError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise
        return get(ref, scoring, index, number) or contest
    return contest
