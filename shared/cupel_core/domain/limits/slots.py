"""Manages slots for scarce resources: invocations that run turns of chats, and environments that requests wait in.

A slot expires, so that one whose holder died becomes free without a repair.
"""

from collections.abc import Callable, Mapping
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.limits.worker_capacity import is_fair

type HasRoom = Callable[[int, int], bool]
"""Returns whether an owner may have this many slots while this many are taken in all; both include the new slot."""


MAX_RUNNING_TURNS = 20
"""The maximum number of turns in progress, which must equal `MaximumConcurrency` of the event source of turns."""


@dataclass(frozen=True)
class Slot:
    owner: str
    until: float
    """A Unix time."""


@dataclass(frozen=True)
class Slots:
    """The slots are keyed by holder, which is a worker or a request."""

    taken: Mapping[str, Slot] = field(default_factory=dict)

    def __contains__(self, holder: object) -> bool:
        return holder in self.taken

    def take(self, holder: str, slot: Slot, has_room: HasRoom, now: float) -> "Slots":
        """Return the slots with one for this holder, or unchanged if there is no room. An existing slot of the holder
        is extended."""
        taken = {each: other for each, other in self.taken.items() if other.until > now}
        own = sum(other.owner == slot.owner for other in taken.values()) + 1
        if holder in taken or has_room(own, len(taken) + 1):
            return Slots({**taken, holder: slot})
        return self

    def release(self, holder: str) -> "Slots":
        return Slots({each: slot for each, slot in self.taken.items() if each != holder})


def has_room(own: int, used: int, quota: int) -> bool:
    """Return whether a workspace may have `own` turns in progress while `used` are in progress in all.

    A turn may wait minutes for a slow agent, so one workspace's turns could take every invocation. As in a worker of
    probes, a workspace may use `SHARE_OF_FREE` times what is left free: alone it may use 16 of 20, so that another
    workspace finds a free one.
    """
    return own <= quota and is_fair(own, used, MAX_RUNNING_TURNS)
