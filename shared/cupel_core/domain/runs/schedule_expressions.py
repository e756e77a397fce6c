"""When a schedule fires: `cron(...)`, `rate(...)` or `at(...)` as EventBridge Scheduler reads them, and a time zone.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_FORM = re.compile(r"(cron|rate|at)\(([^()]*)\)")
_RATE = re.compile(r"([1-9][0-9]{0,6}) (minute|hour|day)s?")
_LOCAL_TIME = "%Y-%m-%dT%H:%M:%S"
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class WrongTiming(ValueError):
    """`field` is `expression` or `timezone`; the text says what would be right."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class CronField(NamedTuple):
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    """Words for the numbers from `low` on."""
    special: str = r"\*"
    """A pattern of what else one element may be."""

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
    """What was asked for, and what EventBridge is told; `at` is set for a schedule that fires once."""

    expression: str
    timezone: str
    at: datetime | None = None

    @property
    def installed_expression(self) -> str:
        """A single time in UTC, so that nobody but us has to know its zone; a rate in EventBridge's grammar."""
        if self.at is not None:
            return f"at({self.at.astimezone(UTC):{_LOCAL_TIME}})"
        return self.expression

    @property
    def installed_timezone(self) -> str:
        return "UTC" if self.at is not None else self.timezone

    def is_over(self, now: datetime) -> bool:
        return self.at is not None and self.at <= now


def timing(expression: str, timezone: str) -> Timing:
    """Raises WrongTiming for what EventBridge Scheduler would not take."""
    zone = _zone(timezone)
    form = _FORM.fullmatch(expression)
    match form.groups() if form else ():
        case ("rate", given):
            return Timing(_rate(given), timezone)
        case ("at", given):
            return Timing(expression, timezone, _at(given, zone))
        case ("cron", given):
            _check_cron(given)
            return Timing(expression, timezone)
    raise WrongTiming("expression", "must be cron(...), rate(...) or at(...), such as cron(0 9 ? * MON-FRI *)")


def _zone(name: str) -> tzinfo:
    """UTC is known also where no time zone data is installed."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise WrongTiming("timezone", "must be an IANA time zone, such as Europe/Berlin") from None


def _rate(given: str) -> str:
    found = _RATE.fullmatch(given)
    if found is None:
        raise WrongTiming("expression", "a rate is a whole number and minutes, hours or days, such as rate(6 hours)")
    value, unit = int(found[1]), found[2]
    return f"rate({value} {unit}{'s' if value > 1 else ''})"


def _at(given: str, zone: tzinfo) -> datetime:
    wrong = WrongTiming("expression", "a single time is a local time in its time zone, such as at(2027-01-31T09:30:00)")
    try:
        local = datetime.strptime(given, _LOCAL_TIME).replace(tzinfo=zone)
    except ValueError:
        raise wrong from None
    if f"{local:{_LOCAL_TIME}}" != given:  # strptime forgives missing zeros, EventBridge does not
        raise wrong
    return local.astimezone(UTC)


def _check_cron(given: str) -> None:
    fields = given.split(" ")
    if len(fields) != len(_CRON):
        named = " ".join(field.name for field in _CRON)
        raise WrongTiming("expression", f"cron has six fields, one blank between them: {named}")
    for field, text in zip(_CRON, fields, strict=True):
        if not field.accepts(text):
            raise WrongTiming("expression", f"cron's {field.name} cannot be {text!r}")
    if (fields[2] == "?") == (fields[4] == "?"):
        raise WrongTiming("expression", "cron needs ? in exactly one of day-of-month and day-of-week")
