"""Resumes what was interrupted, after a start of the embedded cloud.

Only its tables, objects and schedules survive: its queues are empty, or their messages hidden by workers that are gone.
The sweeper would find that out within minutes; here it is known.
"""

from datetime import datetime
from typing import NamedTuple

from cupel.counts import count_of
from cupel.stack.emulator import Emulator
from cupel.stack.invocation import try_invoke

_KINDS = {"dispatched": "run", "redispatched": "run", "finish-started": "run", "rescores": "rescore", "turns": "turn"}
_KINDS |= {"jobs": "job", "generations": "generation", "callbacks": "webhook call"}
"""It maps the counts that the sweep function returns to what they count."""


class Recovery(NamedTuple):
    resumed: str
    """It lists what was resumed, such as `2 runs, 1 turn`, and is empty if nothing was."""
    failure: str = ""


def resume_lost(emulator: Emulator, lost_before: datetime) -> Recovery:
    """Have the sweeper resume everything that was queued or in progress before that moment."""
    answer = try_invoke(emulator, "sweep", {"lostBefore": lost_before.isoformat()})
    if answer.failure is not None:
        return Recovery("", answer.failure)
    totals: dict[str, int] = {}
    for name, kind in _KINDS.items():
        totals[kind] = totals.get(kind, 0) + answer.payload.get(name, 0)
    return Recovery(", ".join(count_of(total, kind) for kind, total in totals.items() if total))
