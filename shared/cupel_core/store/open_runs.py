"""The runs that an owner, or a workspace, has open, as a set of ids: adding one again changes nothing.

A run that ends stays in the set until its owner wants to start more than the limit: `remove` then takes it out. So the
end of a run, where many meet, writes nothing here.
"""

from collections.abc import Iterable

from pynamodb.attributes import UnicodeSetAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import size

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import TERMINAL
from cupel_core.store import keys
from cupel_core.store.batches import get_batch
from cupel_core.store.table import Item, error_code

WORKSPACE = "workspace"
"""Instead of an owner's id: all runs of the workspace."""
_REFUSED = "ConditionalCheckFailedException"


class OpenRunsItem(Item):
    run_ids = UnicodeSetAttribute(attr_name="runIds", null=True)


def add(workspace: str, owner: str, run_id: str, limit: int) -> bool:
    """Add a run unless the set has as many as allowed; whether it is in the set now."""
    ids = OpenRunsItem.run_ids
    has_room = ids.does_not_exist() | ids.contains(run_id) | (size(ids) < limit)  # type: ignore[no-untyped-call]
    try:
        _item(workspace, owner).update([ids.add({run_id})], condition=has_room)
    except UpdateError as error:
        if error_code(error) != _REFUSED:
            raise
        return False
    return True


def remove(workspace: str, owner: str, run_ids: Iterable[str]) -> None:
    if gone := set(run_ids):
        _item(workspace, owner).update([OpenRunsItem.run_ids.delete(gone)])


def list_ended(workspace: str, owner: str) -> set[str]:
    """Runs of the set that have ended, were deleted, or were never created because their start was interrupted."""
    try:
        noted = set(OpenRunsItem.get(*_key(workspace, owner), consistent_read=True).run_ids or ())
    except OpenRunsItem.DoesNotExist:
        return set()
    by_key = {keys.run(RunRef(workspace, run_id)): run_id for run_id in noted}
    found = get_batch({"pk": {"S": key}, "sk": {"S": "run"}} for key in by_key)
    open_ids = {
        by_key[item["pk"]["S"]] for item in found if item["status"]["S"] not in TERMINAL and "deletedAt" not in item
    }
    return noted - open_ids


def _key(workspace: str, owner: str) -> tuple[str, str]:
    return keys.workspace_settings(workspace), f"openRuns#{owner}"


def _item(workspace: str, owner: str) -> OpenRunsItem:
    return OpenRunsItem(*_key(workspace, owner))
