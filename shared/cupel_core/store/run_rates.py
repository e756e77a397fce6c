"""The rates that lists of runs show, in one item per run.

An item names the revision of the outcomes that were counted. Readers ignore it after a retry, an expansion or a
correction, which make another revision, so no writer has to remove it.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pynamodb.attributes import JSONAttribute, UnicodeAttribute

from cupel_core.base.messages import RunRef
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.runs.run_rates import RunRates
from cupel_core.store import keys
from cupel_core.store.batches import get_batch
from cupel_core.store.table import Item


class RunRatesItem(Item):
    revision = UnicodeAttribute()
    body = JSONAttribute()


class StoredRates(NamedTuple):
    corrections: int
    """The results of the run were corrected this often."""
    revision: str | None = None
    """None if no rates are stored."""
    rates: RunRates | None = None


def save(ref: RunRef, revision: str, rates: RunRates) -> None:
    RunRatesItem(keys.run(ref), keys.RATES, revision=revision, body=encode(rates)).save()


def get_all(refs: Collection[RunRef]) -> dict[RunRef, StoredRates]:
    """Return the rates and the number of corrections of each run: one request per fifty runs, strongly consistent."""
    names = (keys.RATES, keys.CORRECTIONS)
    wanted = ({"pk": {"S": keys.run(ref)}, "sk": {"S": name}} for ref in refs for name in names)
    items = {(item["pk"]["S"], item["sk"]["S"]): item for item in get_batch(wanted)}
    return {ref: _stored(items, keys.run(ref)) for ref in refs}


def _stored(items: Mapping[tuple[str, str], dict[str, Any]], key: str) -> StoredRates:
    corrected, raw = items.get((key, keys.CORRECTIONS)), items.get((key, keys.RATES))
    corrections = int(corrected["count"]["N"]) if corrected else 0
    if raw is None:
        return StoredRates(corrections)
    item = RunRatesItem.from_raw_data(raw)
    return StoredRates(corrections, item.revision, decode(RunRates, item.body))
