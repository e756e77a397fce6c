"""Recovery of generations whose message was lost, or whose consumer died too often.

A message is sent again for a generation that has stored nothing for 20 minutes.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from cupel_core.base.messages import GenerationRequest
from cupel_core.domain.definitions.generations import UNFINISHED
from cupel_core.store import generations
from cupel_core.store.settings import settings
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST, QueuedWork, resend_lost

RESEND_AFTER = timedelta(minutes=20)
"""A message is sent after this long without a stored text. The longest wait between two messages is 15 minutes."""


def recover_generations(now: datetime, seconds_left: Callable[[], float], lost_before: datetime = NOTHING_LOST) -> int:
    """Check every open generation while time allows. Return how many messages were sent again."""
    return resend_lost(_GENERATIONS, now, seconds_left, lost_before)


def _idle_since(request: GenerationRequest) -> datetime | None:
    generation = generations.get(request.workspace, request.definition_id, request.generation_id)
    return generation.updated_at if generation.status in UNFINISHED else None


_GENERATIONS = QueuedWork(
    "generations",
    generations.list_open,
    _idle_since,
    lambda: settings().generate_queue_url,
    RESEND_AFTER,
    generations.end_lease,
)
