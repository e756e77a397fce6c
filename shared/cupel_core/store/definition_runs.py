"""Which runs a definition has: an item in its partition per run, written with the run's own and deleted with it.

Runs of earlier releases have none.
"""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.transactions import TransactWrite

from cupel_core.clock import to_iso
from cupel_core.domain.runs.run import Run
from cupel_core.store import keys
from cupel_core.store.table import Item

_PREFIX = "run#"
_LAST = "run$"
"""After every sort key with the prefix."""


class DefinitionRunItem(Item):
    """Its sort key has the run's time of creation and id."""


def add(transaction: TransactWrite, run: Run) -> None:
    transaction.save(_item(run))


def remove(transaction: TransactWrite, run: Run) -> None:
    transaction.delete(_item(run))


def list_run_ids(
    workspace: str, definition_id: str, after: Run | None, page_size: int, *, oldest_first: bool
) -> Iterator[str]:
    """By time of creation, those after `after`; read lazily, `page_size` at a time. Strongly consistent."""
    position = None if after is None else _sort_key(after.created_at, after.id)
    lower, upper = (position or _PREFIX, _LAST) if oldest_first else (_PREFIX, position or _LAST)
    listed = DefinitionRunItem.query(
        keys.definition(workspace, definition_id),
        DefinitionRunItem.sk.between(lower, upper),
        consistent_read=True,
        scan_index_forward=oldest_first,
        page_size=page_size,
    )
    return (item.sk.rpartition("#")[2] for item in listed if item.sk != position)


def _item(run: Run) -> DefinitionRunItem:
    return DefinitionRunItem(keys.definition(run.workspace, run.definition_id), _sort_key(run.created_at, run.id))


def _sort_key(created_at: datetime, run_id: str) -> str:
    return f"{_PREFIX}{to_iso(created_at)}#{run_id}"
