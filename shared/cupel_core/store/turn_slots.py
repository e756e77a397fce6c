"""The running turns of all workspaces, in one item: a worker takes a slot before it claims a turn."""

from dataclasses import asdict
from typing import Any

from cupel_core.domain.limits.turn_slots import TurnSlot, TurnSlots
from cupel_core.settings import settings
from cupel_core.store import keys, versioned_items


class _TurnSlotsCodec:
    name = "the list of running turns"
    default = TurnSlots

    @staticmethod
    def encode(value: TurnSlots) -> dict[str, Any]:
        return {worker_id: asdict(slot) for worker_id, slot in value.slots.items()}

    @staticmethod
    def decode(body: dict[str, Any]) -> TurnSlots:
        return TurnSlots({worker_id: TurnSlot(**slot) for worker_id, slot in body.items()})


_CODEC = _TurnSlotsCodec()
_KEY = {"pk": {"S": keys.TURN_SLOTS}, "sk": {"S": keys.TURN_SLOTS}}


def take(workspace: str, worker_id: str, now: float, until: float) -> bool:
    """Take a slot, or extend the one that the worker has; whether it has one now."""
    quota = settings().workspace_turns
    changed = versioned_items.change(_KEY, _CODEC, lambda slots: slots.taken(worker_id, workspace, now, until, quota))
    return worker_id in changed.value.slots


def release(worker_id: str) -> None:
    versioned_items.change(_KEY, _CODEC, lambda slots: slots.released(worker_id))
