from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.schedule_expressions import Timing
from cupel_core.domain.runs.spec import EvalRunSpec, RunSpec

MAX_FIRINGS = 10
_MAX_ERROR_LENGTH = 500


class ScheduleStatus(StrEnum):
    PENDING = "PENDING"
    ENABLED = "ENABLED"
    DISABLED = "DISABLED"
    ENDED = "ENDED"


@dataclass(frozen=True)
class Firing:
    """Describes one firing of a schedule: the run it started, or the error that prevented it."""

    scheduled_time: datetime
    fired_at: datetime
    run_id: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Schedule:
    workspace: str
    id: str
    name: str
    timing: Timing
    run: str
    """Each firing starts this: a serialized RunSpec or EvalRunSpec."""
    enabled: bool
    created_at: datetime
    updated_at: datetime
    revision: int = 1
    """Every change increments it, so that a concurrent update is not overwritten unread."""
    installed: bool = False
    firings: tuple[Firing, ...] = ()
    """The latest firings are kept, newest first."""
    deleted_at: datetime | None = None

    def status(self, now: datetime) -> ScheduleStatus:
        if self.timing.is_over(now):
            return ScheduleStatus.ENDED
        if not self.installed:
            return ScheduleStatus.PENDING
        return ScheduleStatus.ENABLED if self.enabled else ScheduleStatus.DISABLED

    def run_started_for(self, scheduled_time: datetime) -> str | None:
        return next((firing.run_id for firing in self.firings if firing.scheduled_time == scheduled_time), None)

    def with_firing(self, firing: Firing) -> "Schedule":
        """Return the schedule with this firing, which replaces an earlier attempt for the same time."""
        others = [other for other in self.firings if other.scheduled_time != firing.scheduled_time]
        bounded = replace(firing, error=firing.error and firing.error[:_MAX_ERROR_LENGTH])
        newest = sorted([bounded, *others], key=lambda firing: firing.scheduled_time, reverse=True)
        return replace(self, firings=tuple(newest[:MAX_FIRINGS]))


@dataclass(frozen=True)
class ScheduleSpec:
    name: str
    expression: str
    timezone: str
    enabled: bool
    run: RunSpec | EvalRunSpec


@dataclass(frozen=True)
class ScheduleChanges:
    """Changes a schedule; None leaves a value unchanged."""

    name: str | None = None
    expression: str | None = None
    timezone: str | None = None
    enabled: bool | None = None
    run: RunSpec | EvalRunSpec | None = None
