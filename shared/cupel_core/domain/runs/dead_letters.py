from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.run import Priority


@dataclass(frozen=True)
class DeadLetter:
    """Describes a dropped slice of probes; `cause` is the last error recorded for it."""

    message_id: str
    provider: str
    priority: Priority
    receive_count: int
    run_id: str
    indexes: tuple[int, ...]
    cause: str


@dataclass(frozen=True)
class RedriveResult:
    sent: int = 0
    dropped: int = 0
    runs_to_retry: frozenset[str] = frozenset()
    """In these runs, probes of the messages are recorded as errored; only a retry of the run repeats them."""
    unknown_message_ids: frozenset[str] = frozenset()

    def __add__(self, other: object) -> "RedriveResult":
        if not isinstance(other, RedriveResult):
            return NotImplemented
        return RedriveResult(
            self.sent + other.sent,
            self.dropped + other.dropped,
            self.runs_to_retry | other.runs_to_retry,
            self.unknown_message_ids | other.unknown_message_ids,
        )
