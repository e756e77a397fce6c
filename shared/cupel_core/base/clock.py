"""Provides the clock and its text format.

Domain functions take `now`; only handlers and capabilities read the clock.
"""

from datetime import UTC, datetime


def utc_now() -> datetime:
    return datetime.now(UTC)


def to_iso(moment: datetime) -> str:
    """Return ISO 8601 in UTC with milliseconds and a `Z`, which sorts as text."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text: str) -> datetime:
    return datetime.fromisoformat(text)


def to_optional_iso(moment: datetime | None) -> str | None:
    return None if moment is None else to_iso(moment)


def from_optional_iso(text: str | None) -> datetime | None:
    return from_iso(text) if text else None
