"""Parses when a schedule fires: a `cron(...)`, `rate(...)` or `at(...)` expression of EventBridge Scheduler and a time
zone.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
"""

import re
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.timezones import find_timezone

_FORM = re.compile(r"(cron|rate|at)\(([^()]*)\)")
_RATE = re.compile(r"([1-9][0-9]{0,6}) (minute|hour|day)s?")
_LOCAL_TIME = "%Y-%m-%dT%H:%M:%S"
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class InvalidTiming(ValueError):
    """`field` is `expression` or `timezone`; the message says what is accepted."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class CronField(NamedTuple):
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    """Names for the numbers from `low` upwards."""
    special: str = r"\*"
    """A pattern of the other values that an element may have."""

    def accepts(self, text: str) -> bool:
        return all(self._accepts_element(element) for element in text.upper().split(","))

    def _accepts_element(self, element: str) -> bool:
        if re.fullmatch(self.special, element):
            return True
        base, slash, step = element.partition("/")
        if slash and not (step.isascii() and step.isdigit() and int(step) > 0):
            return False
        low, dash, high = base.partition("-")
        if not dash:
            return (bool(slash) and base == "*") or self._number(base) is not None
        first, last = self._number(low), self._number(high)
        return first is not None and last is not None and first <= last

    def _number(self, text: str) -> int | None:
        if text in self.names:
            return self.low + self.names.index(text)
        if text.isascii() and text.isdigit() and self.low <= int(text) <= self.high:
            return int(text)
        return None


_CRON = (
    CronField("minutes", 0, 59),
    CronField("hours", 0, 23),
    CronField("day-of-month", 1, 31, special=r"\*|\?|L|LW|([1-9]|[12][0-9]|3[01])W"),
    CronField("month", 1, 12, _MONTHS),
    CronField("day-of-week", 1, 7, _DAYS, special=r"\*|\?|L|([1-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(L|#[1-5])"),
    CronField("year", 1970, 2199),
)


@dataclass(frozen=True)
class Timing:
    """Describes the requested timing and how it is installed in EventBridge; `at` is set for a schedule that fires
    once."""

    expression: str
    timezone: str
    at: datetime | None = None

    @property
    def installed_expression(self) -> str:
        """Return the expression for EventBridge; a single time is converted to UTC, so that its zone need not be
        known."""
        if self.at is not None:
            return f"at({self.at.astimezone(UTC):{_LOCAL_TIME}})"
        return self.expression

    @property
    def installed_timezone(self) -> str:
        return "UTC" if self.at is not None else self.timezone

    def is_over(self, now: datetime) -> bool:
        return self.at is not None and self.at <= now


def parse_timing(expression: str, timezone: str) -> Timing:
    """Raises InvalidTiming for an expression or zone that EventBridge Scheduler would reject."""
    zone = _zone(timezone)
    form = _FORM.fullmatch(expression)
    match form.groups() if form else ():
        case ("rate", text):
            return Timing(_rate(text), timezone)
        case ("at", text):
            return Timing(expression, timezone, _at(text, zone))
        case ("cron", text):
            _check_cron(text)
            return Timing(expression, timezone)
    raise InvalidTiming("expression", "must be cron(...), rate(...) or at(...), such as cron(0 9 ? * MON-FRI *)")


def _zone(name: str) -> tzinfo:
    if (zone := find_timezone(name)) is None:
        raise InvalidTiming("timezone", "must be an IANA time zone, such as Europe/Berlin")
    return zone


def _rate(text: str) -> str:
    match = _RATE.fullmatch(text)
    if match is None:
        raise InvalidTiming(
            "expression", "a rate is an integer followed by minutes, hours or days, such as rate(6 hours)"
        )
    value, unit = int(match[1]), match[2]
    return f"rate({value} {unit}{'s' if value > 1 else ''})"


def _at(text: str, zone: tzinfo) -> datetime:
    invalid = InvalidTiming(
        "expression", "a single time is a local time in its time zone, such as at(2027-01-31T09:30:00)"
    )
    try:
        local = datetime.strptime(text, _LOCAL_TIME).replace(tzinfo=zone)
        moment = local.astimezone(UTC)
    except (ValueError, OverflowError):
        raise invalid from None
    if f"{local:{_LOCAL_TIME}}" != text:  # strptime accepts missing zeros, EventBridge does not
        raise invalid
    return moment


def _check_cron(text: str) -> None:
    fields = text.split(" ")
    if len(fields) != len(_CRON):
        names = " ".join(field.name for field in _CRON)
        raise InvalidTiming("expression", f"cron has six fields separated by single spaces: {names}")
    for field, value in zip(_CRON, fields, strict=True):
        if not field.accepts(value):
            raise InvalidTiming("expression", f"cron's {field.name} cannot be {value!r}")
    if (fields[2] == "?") == (fields[4] == "?"):
        raise InvalidTiming("expression", "cron needs ? in exactly one of day-of-month and day-of-week")
