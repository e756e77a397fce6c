"""Which turns of chats may run at the same time: all workspaces share the invocations of the turn function.

A turn may wait minutes for a slow agent, so one workspace's turns could take every invocation. As in a worker of
probes, a workspace may use `SHARE_OF_FREE` times what is left free: alone 16 of 20, and a workspace that arrives finds
a free one.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from cupel_core.deferred import dataclass
from cupel_core.domain.limits.worker_capacity import is_fair

MAX_RUNNING_TURNS = 20
"""`MaximumConcurrency` of the event source of turns."""


@dataclass(frozen=True)
class TurnSlot:
    workspace: str
    until: float
    """A Unix time: the slot of a dead worker is free afterwards."""


@dataclass(frozen=True)
class TurnSlots:
    """The turns that are running, by worker."""

    slots: Mapping[str, TurnSlot] = field(default_factory=dict)

    def taken(self, worker_id: str, workspace: str, now: float, until: float, quota: int) -> "TurnSlots":
        """With a slot for this worker, if it is the workspace's turn to have one; one that it has is extended."""
        slots = {each: slot for each, slot in self.slots.items() if slot.until > now}
        own = sum(slot.workspace == workspace for each, slot in slots.items() if each != worker_id) + 1
        used = len(slots.keys() - {worker_id}) + 1
        if worker_id in slots or (own <= quota and is_fair(own, used, MAX_RUNNING_TURNS)):
            slots[worker_id] = TurnSlot(workspace, until)
        return replace(self, slots=slots)

    def released(self, worker_id: str) -> "TurnSlots":
        return replace(self, slots={each: slot for each, slot in self.slots.items() if each != worker_id})
