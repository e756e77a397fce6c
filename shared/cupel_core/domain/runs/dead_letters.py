"""Dead letters: messages that a queue gave up on after repeated failed deliveries."""

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.run import Priority


@dataclass(frozen=True)
class DeadLetter:
    """A slice of probes that a queue gave up on; `cause` is the last error recorded for it."""

    message_id: str
    provider: str
    priority: Priority
    receive_count: int
    """How often it was received."""
    run_id: str
    indexes: tuple[int, ...]
    """The probes of the slice."""
    cause: str


@dataclass(frozen=True)
class RedriveResult:
    """The result of redriving dead letters, all of which have been removed from the dead-letter queue."""

    sent: int = 0
    """Messages sent again, because their probes had no outcome."""
    dropped: int = 0
    """Messages whose probes needed no work any more."""
    runs_to_retry: frozenset[str] = frozenset()
    """Runs in which probes of these messages are recorded as errored; only a retry of the run repeats them."""
    unknown_message_ids: frozenset[str] = frozenset()
    """Requested ids that no dead letter has."""

    def __add__(self, other: object) -> "RedriveResult":
        if not isinstance(other, RedriveResult):
            return NotImplemented
        return RedriveResult(
            self.sent + other.sent,
            self.dropped + other.dropped,
            self.runs_to_retry | other.runs_to_retry,
            self.unknown_message_ids | other.unknown_message_ids,
        )
