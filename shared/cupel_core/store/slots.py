"""Slots that limit concurrent work: one item per limit, changed with optimistic locking."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from cupel_core.domain.limits.slots import Slot, Slots
from cupel_core.store import keys, versioned_items
from cupel_core.store.versioned_items import Versioned

type ItemKey = dict[str, Any]

TURNS: ItemKey = {"pk": {"S": keys.TURN_SLOTS}, "sk": {"S": keys.TURN_SLOTS}}
"""The running turns of all workspaces. A worker takes a slot before it claims a turn."""


class _SlotsCodec:
    name = "the list of taken slots"
    default = Slots

    @staticmethod
    def encode(value: Slots) -> dict[str, Any]:
        return {holder: asdict(slot) for holder, slot in value.taken.items()}

    @staticmethod
    def decode(body: dict[str, Any]) -> Slots:
        return Slots({holder: Slot(**slot) for holder, slot in body.items()})


_CODEC = _SlotsCodec()


def waiting_requests(workspace: str | None) -> ItemKey:
    """Return the key of the waiting requests of a workspace, or of the stack if it is None."""
    partition = keys.workspace_settings(workspace) if workspace is not None else keys.WAITING
    return {"pk": {"S": partition}, "sk": {"S": "waiting"}}


def change(
    key: ItemKey, change_value: Callable[[Slots], Slots], last: Versioned[Slots] | None = None
) -> Versioned[Slots]:
    """Apply `change_value` to the slots. Raise RetryableError if too many writers change them at once."""
    return versioned_items.change(key, _CODEC, change_value, last)
