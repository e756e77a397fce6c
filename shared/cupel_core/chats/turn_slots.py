"""The slots that workers take before they claim turns, so that no workspace fills the turn function."""

from functools import partial

from cupel_core.domain.limits.slots import Slot
from cupel_core.domain.limits.turn_slots import has_room
from cupel_core.store import slots
from cupel_core.store.settings import settings


def take(workspace: str, worker_id: str, now: float, until: float) -> bool:
    """Take a slot, or extend the one that the worker has; return whether it has one now."""
    room, slot = partial(has_room, quota=settings().workspace_turns), Slot(workspace, until)
    changed = slots.change(slots.TURNS, lambda taken: taken.take(worker_id, slot, room, now))
    return worker_id in changed.value


def release(worker_id: str) -> None:
    slots.change(slots.TURNS, lambda taken: taken.release(worker_id))
