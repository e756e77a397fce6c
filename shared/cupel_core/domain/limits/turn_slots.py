"""The rule by which turns of chats share the invocations of the turn function.

A turn may wait minutes for a slow agent, so one workspace's turns could take every invocation. As in a worker of
probes, a workspace may use `SHARE_OF_FREE` times what is left free: alone 16 of 20, and a workspace that arrives finds
a free one.
"""

from cupel_core.domain.limits.worker_capacity import is_fair

MAX_RUNNING_TURNS = 20
"""`MaximumConcurrency` of the event source of turns."""


def has_room(own: int, used: int, quota: int) -> bool:
    """Whether a workspace may have `own` turns in progress while `used` are in progress in all."""
    return own <= quota and is_fair(own, used, MAX_RUNNING_TURNS)
