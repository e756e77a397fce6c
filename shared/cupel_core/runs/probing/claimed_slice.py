from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import ProbeSlice
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.slow_calls import SlowCall, slow_calls
from cupel_core.providers.attempt_log import AttemptLog
from cupel_core.runs.probing.slice_context import SliceContext
from cupel_core.store.queues import Delivery

RETRY_LATER = "asked to wait"
"""Probes are postponed for this reason when the provider asks for a long wait. Only these requeues count as
`handoffs`."""
REPORT_SECONDS = 2.0
"""A claim says at most this often which conversations are in progress, because each report is a write."""
INTERNAL_ERROR = "internal error"
"""Probes are postponed for this reason after an internal error. Only these requeues count as `failures`."""


@dataclass
class Remainder:
    """Postponed probes of a slice that are requeued together in one message."""

    indexes: list[int] = field(default_factory=list)
    delay_seconds: float = 0.0


@dataclass
class ClaimedSlice:
    """A slice with the progress of its probes. `pending` probes have not started. `started` ones are running, or
    finished and not recorded yet. All others are done or postponed."""

    probe_slice: ProbeSlice
    delivery: Delivery
    claimant: str
    claim: Claim
    """The claim covers the probes that are this worker's. It is renewed while the worker processes the slice."""
    context: SliceContext
    pending: deque[int]
    rounds: Mapping[int, int] = field(default_factory=dict)
    """The retry round in which the conversation of each probe started, by index."""
    rest: Sequence[int] = ()
    """Probes of the message that were not claimed with the others and have no outcome."""
    scenario_mb: float = 0.0
    started: set[int] = field(default_factory=set)
    remainders: dict[str, Remainder] = field(default_factory=dict)
    """Postponed probes by reason. The groups are separate, so that a suspended model does not delay other probes."""
    is_dropped: bool = False
    """True if probes of the slice end without an outcome or a message, because their run is no longer open."""
    is_lost: bool = False
    """True once another worker has taken over the probes after the claim expired. No further call may start."""
    begun: set[int] = field(default_factory=set)
    """Probes whose conversations were begun by this worker or before, so they may have a checkpoint."""
    logs: dict[int, AttemptLog] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)
    """The Unix time of the first call of each conversation whose outcome waits to be recorded, by index."""
    reported_at: float = 0.0
    """The Unix time when the claim last said which conversations are in progress."""

    def calling(self) -> dict[int, float]:
        """Return when the first call of each conversation in progress was made, as Unix times by offset."""
        begun = {index % FANOUT: at for index, at in list(self.ended.items())}  # The worker may add to it meanwhile.
        for index, log in list(self.logs.items()):
            if log.first_call_at is not None:
                begun[index % FANOUT] = log.first_call_at
        return begun

    def is_report_due(self, now: float) -> bool:
        """Return whether the claim is outdated, so that its readers would take queued probes for running ones or vice
        versa."""
        if now < self.reported_at + REPORT_SECONDS:
            return False
        return self.calling().keys() != self.claim.calling.keys()

    def slow_calls(self, now: float) -> tuple[SlowCall, ...]:
        """Select the calls in flight that are slow enough to be shown in the run's progress."""
        calls = ((index % FANOUT, call) for index, log in list(self.logs.items()) for call in list(log.open_calls))
        return slow_calls(calls, now)

    @property
    def is_done(self) -> bool:
        return not self.pending and not self.started

    @property
    def idle_mb(self) -> float:
        """Return the size of the scenarios of probes without a conversation in progress. All stay in memory until the
        end."""
        return self.scenario_mb * (1 - len(self.started) / len(self.probe_slice.indexes))

    def may_start(self, now: float) -> bool:
        """Return whether the claim is certainly still valid. An expired one may have been revoked already."""
        return not self.is_lost and now < self.claim.until

    def start(self, index: int) -> None:
        self.pending.remove(index)
        self.started.add(index)

    def begin(self, index: int) -> bool:
        """Record that the probe's conversation begins. Return whether it was begun before."""
        was_begun = index in self.begun
        self.begun.add(index)
        return was_begun

    def postpone_pending(self, index: int, delay_seconds: float, reason: str) -> None:
        self.pending.remove(index)
        self.postpone(index, delay_seconds, reason)

    def postpone(self, index: int, delay_seconds: float, reason: str = "") -> None:
        remainder = self.remainders.setdefault(reason, Remainder())
        remainder.indexes.append(index)
        remainder.delay_seconds = max(remainder.delay_seconds, delay_seconds)

    def postpone_all_pending(self, delay_seconds: float) -> None:
        while self.pending:
            self.postpone(self.pending.popleft(), delay_seconds)

    def drop_pending(self) -> None:
        self.is_dropped |= bool(self.pending)
        self.pending.clear()

    def remainder_messages(self) -> list[tuple[ProbeSlice, float]]:
        """Return the messages that requeue the postponed probes, with their delays in seconds."""
        return [
            (
                self.probe_slice.model_copy(
                    update={
                        "indexes": sorted(remainder.indexes),
                        "begun": sorted(self.begun.intersection(remainder.indexes)),
                        "handoffs": self.probe_slice.handoffs + (reason == RETRY_LATER),
                        "failures": self.probe_slice.failures + (reason == INTERNAL_ERROR),
                    }
                ),
                remainder.delay_seconds,
            )
            for reason, remainder in self.remainders.items()
        ]
