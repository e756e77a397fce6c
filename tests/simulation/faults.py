"""The faults of a schedule: their kinds, their rates, and how often each occurred."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random


class Fault(StrEnum):
    CRASH_BEFORE = "crash before a call"
    CRASH_AFTER = "crash after a call"
    CRASH = "crash between calls"
    LOST_REQUEST = "lost request"
    LOST_REPLY = "lost reply"
    OUTAGE = "call that failed after all retries"
    OUTAGE_AFTER = "call that took effect but failed after all retries"
    THROTTLED = "throttled call"
    CONFLICT = "transaction conflict"
    CONDITION = "conditional failure"
    SLOW = "slow request"
    LATE = "delayed reply"
    TWICE = "message delivered twice"
    EXPIRED = "visibility timeout expired during processing"
    EXECUTION = "aborted execution"
    SKEW = "skewed clock"
    MODEL_FAILS = "failed model call"
    MODEL_HANGS = "hanging model call"
    MODEL_WAITS = "model that asked to retry later"
    STREAM_DROPS = "stream of an answer that broke off"
    TOOL_FAILS = "failed call of a tool"
    TOOL_WAITS = "tool that asked to retry later"
    REFUSED = "answer whose outcome is too large"


_WEIGHTS = {
    Fault.CRASH_BEFORE: 2.0,
    Fault.CRASH_AFTER: 2.0,
    Fault.LOST_REQUEST: 1.0,
    Fault.LOST_REPLY: 2.0,
    Fault.OUTAGE: 0.5,
    Fault.OUTAGE_AFTER: 0.5,
    Fault.THROTTLED: 1.0,
    Fault.CONFLICT: 0.5,
    Fault.SLOW: 0.5,
    Fault.LATE: 0.5,
}
"""Faults of a single AWS call, with their relative frequency."""
_LOW_RATE, _HIGH_RATE = 0.004, 0.05


@dataclass(frozen=True)
class Conditions:
    """Properties a schedule must have; None leaves the choice to the seed."""

    has_limited_sweeper: bool | None = None
    """Whether the sweeper does not search for lost work: the protocol itself must lose nothing."""
    has_large_skew: bool | None = None
    """Whether clocks differ so much that leases have no effect. A model may then be called twice, but nothing may be
    lost or counted twice."""
    has_slow_models: bool | None = None
    """Whether conversations take longer than a claim lasts without renewal."""
    has_tools: bool | None = None
    """Whether targets call tools, which scripts and a connector execute. None leaves it to the seed if nothing else is
    given."""
    has_profile: bool | None = None
    """Whether operations run around the turns of one target. None leaves it to the seed if nothing else is given."""
    has_budget: bool | None = None
    """Whether the run has a budget, which may be used up before its end."""
    has_workspace_budget: bool | None = None
    """Whether the workspace has budgets for days, which are two minutes long, and for months. None leaves it to the
    seed if nothing else is given."""


ANY = Conditions()


@dataclass
class Faults:
    """The faults of one schedule. Their rate varies between schedules; some have only three kinds of fault."""

    rng: Random
    counts: Counter[Fault] = field(default_factory=Counter)
    have_ended: bool = False

    def __post_init__(self) -> None:
        self._rate = self.rng.choice((_LOW_RATE, (_LOW_RATE + _HIGH_RATE) / 2, _HIGH_RATE))
        kinds = list(_WEIGHTS)
        self._kinds = kinds if self.rng.random() < 0.6 else self.rng.sample(kinds, 3)
        self._weights = [_WEIGHTS[kind] for kind in self._kinds]
        self.crash_rate = self.rng.choice((0.0, 0.1, 0.3))
        """Share of the invocations that crash while they wait."""
        self.retry_later_rate = self.rng.choice((0.0, 0.05, 0.3))
        """Share of the model calls that are asked to retry later."""
        self.model_failure_rate = self.rng.choice((0.0, 0.05, 0.4))
        """Share of the model calls that fail."""

    def count(self, fault: Fault) -> None:
        self.counts[fault] += 1

    def draw_for_call(self, *, can_conflict: bool) -> Fault | None:
        """The fault of one attempt at a call, if any."""
        if self.have_ended or self.rng.random() >= self._rate * len(self._kinds) / 3:
            return None
        fault = self.rng.choices(self._kinds, self._weights)[0]
        if fault is Fault.CONFLICT and not can_conflict:
            return None
        self.count(fault)
        return fault

    def happens(self, fault: Fault, rate: float) -> bool:
        if self.have_ended or self.rng.random() >= rate:
            return False
        self.count(fault)
        return True
