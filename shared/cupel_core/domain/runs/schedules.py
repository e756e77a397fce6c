"""Schedules: when runs start by themselves, and what became of the last times."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from cupel_core.domain.runs.schedule_expressions import Timing

KEPT_FIRINGS = 10
_LONGEST_ERROR = 500


class ScheduleStatus(StrEnum):
    PENDING = "PENDING"
    """Recorded, and not handed to EventBridge yet."""
    ENABLED = "ENABLED"
    DISABLED = "DISABLED"
    ENDED = "ENDED"
    """Its single time is over."""


@dataclass(frozen=True)
class Firing:
    """One time a schedule was due: the run it started, or why it started none."""

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
    """What each firing starts, as its specification writes itself."""
    enabled: bool
    created_at: datetime
    updated_at: datetime
    revision: int = 1
    """Counts every change, so that nobody overwrites what he has not read."""
    installed: bool = False
    """Whether EventBridge has been told of it as it is."""
    firings: tuple[Firing, ...] = ()
    """The last ones, newest first."""
    deleted_at: datetime | None = None

    def status(self, now: datetime) -> ScheduleStatus:
        if self.timing.is_over(now):
            return ScheduleStatus.ENDED
        if not self.installed:
            return ScheduleStatus.PENDING
        return ScheduleStatus.ENABLED if self.enabled else ScheduleStatus.DISABLED

    def started(self, scheduled_time: datetime) -> str | None:
        """The run that was started for this time, as far as it is remembered."""
        return next((each.run_id for each in self.firings if each.scheduled_time == scheduled_time), None)

    def fired(self, firing: Firing) -> "Schedule":
        """With this firing in the place of an earlier attempt for the same time."""
        others = [each for each in self.firings if each.scheduled_time != firing.scheduled_time]
        told = replace(firing, error=firing.error and firing.error[:_LONGEST_ERROR])
        newest = sorted([told, *others], key=lambda each: each.scheduled_time, reverse=True)
        return replace(self, firings=tuple(newest[:KEPT_FIRINGS]))
