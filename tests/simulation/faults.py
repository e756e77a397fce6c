"""What goes wrong, how often, and how often it did."""

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
    OUTAGE = "call that failed for good"
    OUTAGE_AFTER = "call that failed for good after its effect"
    THROTTLED = "throttled call"
    CONFLICT = "transaction conflict"
    CONDITION = "conditional failure"
    SLOW = "slow call"
    LATE = "late reply"
    TWICE = "message delivered twice"
    EXPIRED = "visibility expired while working"
    EXECUTION = "execution that died"
    SKEW = "skewed clock"
    MODEL_FAILS = "model call that failed"
    MODEL_HANGS = "model call that hung"
    MODEL_WAITS = "model that asked to wait"


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
"""Faults of one call of AWS, by how often they are drawn."""
_CALM, _WILD = 0.004, 0.05


@dataclass(frozen=True)
class Conditions:
    """What a schedule is to be like; None leaves it to the seed."""

    is_bare: bool | None = None
    """Whether the sweeper looks for what is lost: the protocol must lose nothing."""
    has_wild_clocks: bool | None = None
    """Whether leases mean nothing. Then a model may be paid twice, but nothing is lost or counted twice."""


ANY = Conditions()


@dataclass
class Faults:
    """Faults of one schedule; some schedules are calm, some wild, and in some only a few kinds happen."""

    rng: Random
    counts: Counter[Fault] = field(default_factory=Counter)
    are_over: bool = False

    def __post_init__(self) -> None:
        self._rate = self.rng.choice((_CALM, (_CALM + _WILD) / 2, _WILD))
        kinds = list(_WEIGHTS)
        self._kinds = kinds if self.rng.random() < 0.6 else self.rng.sample(kinds, 3)
        self._weights = [_WEIGHTS[kind] for kind in self._kinds]
        self.crash_rate = self.rng.choice((0.0, 0.1, 0.3))
        """Part of the invocations that die while they wait."""
        self.waits = self.rng.choice((0.0, 0.05, 0.3))
        """Part of the model calls that are asked to come again later."""
        self.models = self.rng.choice((0.0, 0.05, 0.4))
        """Part of the model calls that do not answer."""

    def count(self, fault: Fault) -> None:
        self.counts[fault] += 1

    def of_call(self, *, can_conflict: bool) -> Fault | None:
        """What befalls an attempt at a call."""
        if self.are_over or self.rng.random() >= self._rate * len(self._kinds) / 3:
            return None
        fault = self.rng.choices(self._kinds, self._weights)[0]
        if fault is Fault.CONFLICT and not can_conflict:
            return None
        self.count(fault)
        return fault

    def happens(self, fault: Fault, rate: float) -> bool:
        if self.are_over or self.rng.random() >= rate:
            return False
        self.count(fault)
        return True
