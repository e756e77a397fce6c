"""The runs of a definition: an item in its partition per run, written with the run's own and deleted with it.

A run with copied answers has a definition made for it alone. That definition is listed in the place of the run.
"""

import heapq
from collections.abc import Iterator
from datetime import datetime

from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import to_iso
from cupel_core.domain.runs.run import Run
from cupel_core.store import keys
from cupel_core.store.table import Item

_RUN, _DEFINITION = "run", "answers"


class DefinitionRunItem(Item):
    """The sort key has the time of creation and the id of the run, or of the definition that was made for it."""


def add(transaction: TransactWrite, run: Run) -> None:
    transaction.save(_item(run))


def remove(transaction: TransactWrite, run: Run) -> None:
    transaction.delete(_item(run))


def add_definition(workspace: str, definition_id: str, made_id: str, created_at: datetime) -> None:
    """List a definition that was made for a run of this one."""
    sort_key = f"{_DEFINITION}#{_position(created_at, made_id)}"
    DefinitionRunItem(keys.definition(workspace, definition_id), sort_key).save()


def list_ids(
    workspace: str, definition_id: str, after: Run | None, page_size: int, *, oldest_first: bool
) -> Iterator[str]:
    """Yield the ids of runs, and of definitions made for one, by time of creation, from the run `after` on. It reads
    lazily, `page_size` at a time, and is strongly consistent."""
    position = None
    if after is not None:
        is_own = after.definition_id == definition_id
        position = _position(after.created_at, after.id if is_own else after.definition_id)
    partition = keys.definition(workspace, definition_id)
    streams = [_list(partition, kind, position, page_size, oldest_first=oldest_first) for kind in (_RUN, _DEFINITION)]
    merged = heapq.merge(*streams, reverse=not oldest_first)
    return (each.rpartition("#")[2] for each in merged if each != position)


def list_made_definition_ids(workspace: str, definition_id: str) -> Iterator[str]:
    listed = _list(keys.definition(workspace, definition_id), _DEFINITION, None, None, oldest_first=True)
    return (each.rpartition("#")[2] for each in listed)


def _list(
    partition: str, kind: str, position: str | None, page_size: int | None, *, oldest_first: bool
) -> Iterator[str]:
    lowest, highest = f"{kind}#", f"{kind}$"  # `$` follows `#`.
    if position is not None:
        lowest, highest = (lowest + position, highest) if oldest_first else (lowest, lowest + position)
    items = DefinitionRunItem.query(
        partition,
        DefinitionRunItem.sk.between(lowest, highest),
        consistent_read=True,
        scan_index_forward=oldest_first,
        page_size=page_size,
    )
    return (item.sk.partition("#")[2] for item in items)


def _item(run: Run) -> DefinitionRunItem:
    sort_key = f"{_RUN}#{_position(run.created_at, run.id)}"
    return DefinitionRunItem(keys.definition(run.workspace, run.definition_id), sort_key)


def _position(created_at: datetime, item_id: str) -> str:
    return f"{to_iso(created_at)}#{item_id}"
