"""Repairs that are not complete: the runs that waited for a changed provider or connector have to be resumed.

A repair is written before the first run resumes and removed after the last one.
"""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.attributes import JSONAttribute, UnicodeAttribute

from cupel_core.base.clock import to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.store import keys
from cupel_core.store.table import Item


class RepairItem(Item):
    workspace = UnicodeAttribute()
    repair_id = UnicodeAttribute(attr_name="repairId")
    model_prefix = UnicodeAttribute(attr_name="modelPrefix")
    suspended_models = JSONAttribute(attr_name="suspendedModels")
    after_run = UnicodeAttribute(attr_name="afterRun", null=True)
    only_run = UnicodeAttribute(attr_name="onlyRun", null=True)
    due_at = UnicodeAttribute(attr_name="dueAt")


@dataclass(frozen=True)
class Repair:
    workspace: str
    id: str
    model_prefix: str
    """The names of the repaired models begin with this."""
    suspended_models: frozenset[str]
    """The repaired models that were suspended until now."""
    after_run: str | None = None
    only_run: str | None = None
    """The only run left to resume. The repair has covered all other runs, but this one failed."""

    @property
    def sort_key(self) -> str:
        return keys.repair(self.workspace, self.id)


def save(repair: Repair, due_at: datetime) -> None:
    """Save the repair. The sweeper continues with it from `due_at` on."""
    RepairItem(
        keys.REPAIRS,
        repair.sort_key,
        workspace=repair.workspace,
        repair_id=repair.id,
        model_prefix=repair.model_prefix,
        suspended_models=sorted(repair.suspended_models),
        after_run=repair.after_run,
        only_run=repair.only_run,
        due_at=to_iso(due_at),
    ).save()


def remove(repair: Repair) -> None:
    RepairItem(keys.REPAIRS, repair.sort_key).delete()


def list_due(now: datetime, after: str | None = None) -> Iterator[Repair]:
    """Yield the due repairs of all workspaces, from the sort key `after` on."""
    condition = RepairItem.sk > after if after else None
    for item in RepairItem.query(keys.REPAIRS, condition, filter_condition=RepairItem.due_at <= to_iso(now)):
        suspended = frozenset(item.suspended_models)
        yield Repair(item.workspace, item.repair_id, item.model_prefix, suspended, item.after_run, item.only_run)
