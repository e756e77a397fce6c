from collections.abc import Sequence
from typing import NamedTuple

MIN_AGE_SECONDS = 1.0
MAX_AGE_SECONDS = 60.0
_WINDOW_SECONDS = 15.0
_SPACING_SECONDS = 2.0
_MAX_READINGS = 8
"""At the spacing above, the oldest reading is as old as the window."""


class Reading(NamedTuple):
    """Counts the probes of each target with an outcome at a Unix time."""

    at: float
    recorded: tuple[int, ...]


def rates(readings: Sequence[Reading], current: Reading) -> list[float | None]:
    """Return each target's probes per second since the oldest reading of the last 15 s, else since the latest of the
    last minute. The rates are None if there is no such reading."""
    usable = [
        each
        for each in readings
        if MIN_AGE_SECONDS <= current.at - each.at <= MAX_AGE_SECONDS and len(each.recorded) == len(current.recorded)
    ]
    recent = [each for each in usable if current.at - each.at <= _WINDOW_SECONDS]
    before = min(recent, default=None) or max(usable, default=None)
    if before is None:
        return [None] * len(current.recorded)
    seconds = current.at - before.at
    # A retry takes errors out of the count.
    return [max(0, now - then) / seconds for now, then in zip(current.recorded, before.recorded, strict=True)]


def with_reading(readings: Sequence[Reading], current: Reading) -> Sequence[Reading]:
    """Append the current reading, unless the latest is less than two seconds old."""
    if readings and current.at - readings[-1].at < _SPACING_SECONDS:
        return readings
    return (*readings, current)[-_MAX_READINGS:]
