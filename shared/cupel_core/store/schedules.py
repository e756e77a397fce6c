"""Schedules in the table, which is authoritative; EventBridge (cupel_core/store/scheduler.py) only fires them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pynamodb.attributes import BooleanAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.limits.quotas import Quota
from cupel_core.domain.runs.schedule_expressions import Timing
from cupel_core.domain.runs.schedules import Firing, Schedule
from cupel_core.store import idempotency_keys, keys, listing, quotas
from cupel_core.store.listing import list_newest
from cupel_core.store.table import CreationIndex, Item, error_code

_SORT_KEY = "schedule"


class ScheduleItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute()
    gsi1sk = UnicodeAttribute()
    revision = NumberAttribute()
    installed = BooleanAttribute()
    body = JSONAttribute()


def create(schedule: Schedule) -> None:
    quotas.take(schedule.workspace, Quota.SCHEDULES)
    with idempotency_keys.transaction() as transaction:
        transaction.save(_to_item(schedule), condition=ScheduleItem.pk.does_not_exist())


def find(workspace: str, schedule_id: str) -> Schedule | None:
    """Return the schedule, even a deleted one, or None if the workspace never had one of this id."""
    try:
        return _from_item(ScheduleItem.get(keys.schedule(workspace, schedule_id), _SORT_KEY, consistent_read=True))
    except ScheduleItem.DoesNotExist:
        return None


def get(workspace: str, schedule_id: str) -> Schedule:
    """Return the schedule. Raise NotFound if there is none or it is deleted."""
    schedule = find(workspace, schedule_id)
    if schedule is None or schedule.deleted_at is not None:
        raise NotFound(f"there is no schedule {schedule_id}")
    return schedule


def update(changed: Schedule) -> Schedule | None:
    """Write a changed schedule and return it with its new revision, or None if it was changed since it was read."""
    written = replace(changed, revision=changed.revision + 1)
    try:
        _to_item(written).save(condition=ScheduleItem.revision == changed.revision)
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return None
    return written


def erase(workspace: str, schedule_id: str) -> None:
    """Erase a schedule whose creation failed, or one of an erased workspace."""
    ScheduleItem(keys.schedule(workspace, schedule_id), _SORT_KEY).delete()


def list_schedules(workspace: str, limit: int, cursor: str | None) -> Page[Schedule]:
    entries = list_newest(ScheduleItem, keys.creation_list(workspace, "schedules"), limit, cursor)
    return fill_page((entry.map(_from_item) for entry in entries), limit)


def list_ids(workspace: str) -> Iterator[str]:
    lists = [keys.creation_list(workspace, "schedules", deleted=deleted) for deleted in (False, True)]
    return listing.list_ids(ScheduleItem, *lists)


def _from_item(item: ScheduleItem) -> Schedule:
    body: dict[str, Any] = item.body
    at = body["at"]
    deleted_at = body["deletedAt"]
    return Schedule(
        workspace=body["workspace"],
        id=body["id"],
        name=body["name"],
        timing=Timing(body["expression"], body["timezone"], from_iso(at) if at else None),
        run=body["run"],
        enabled=body["enabled"],
        created_at=from_iso(body["createdAt"]),
        updated_at=from_iso(body["updatedAt"]),
        revision=int(item.revision),
        installed=item.installed,
        firings=tuple(map(_to_firing, body["firings"])),
        deleted_at=from_iso(deleted_at) if deleted_at else None,
    )


def _to_item(schedule: Schedule) -> ScheduleItem:
    timing, deleted_at = schedule.timing, schedule.deleted_at
    body = {
        "workspace": schedule.workspace,
        "id": schedule.id,
        "name": schedule.name,
        "expression": timing.expression,
        "timezone": timing.timezone,
        "at": to_iso(timing.at) if timing.at else None,
        "run": schedule.run,
        "enabled": schedule.enabled,
        "createdAt": to_iso(schedule.created_at),
        "updatedAt": to_iso(schedule.updated_at),
        "firings": [_from_firing(firing) for firing in schedule.firings],
        "deletedAt": to_iso(deleted_at) if deleted_at else None,
    }
    return ScheduleItem(
        keys.schedule(schedule.workspace, schedule.id),
        _SORT_KEY,
        gsi1pk=keys.creation_list(schedule.workspace, "schedules", deleted=deleted_at is not None),
        gsi1sk=f"{to_iso(schedule.created_at)}#{schedule.id}",
        revision=schedule.revision,
        installed=schedule.installed,
        body=body,
    )


def _to_firing(body: dict[str, Any]) -> Firing:
    return Firing(from_iso(body["scheduledTime"]), from_iso(body["firedAt"]), body["runId"], body["error"])


def _from_firing(firing: Firing) -> dict[str, Any]:
    return {
        "scheduledTime": to_iso(firing.scheduled_time),
        "firedAt": to_iso(firing.fired_at),
        "runId": firing.run_id,
        "error": firing.error,
    }
