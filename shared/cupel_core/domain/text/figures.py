"""Writes figures as text for people.

`web/src/lib/format.ts` has the same rules; `figure_cases.json` beside it tests both. An unknown figure is `–`, never 0.
Numbers round half away from zero, and one that rounds to zero has no sign.
"""

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

UNKNOWN = "–"
_MINUS = "−"
_LEAST_P = 0.001
_CENTS = 0.0995
"""From this amount on, money has two decimal places; below it, two significant digits."""
_LEAST_FACTOR = 0.1
_MIN_PERCENT_RATIO, _MAX_PERCENT_RATIO = 0.5 - 1e-9, 2 + 1e-9
"""A ratio below 0.5 or above 2 is shown as a factor, because `+199,900%` and `−100.0%` say little."""
_EXACT = Context(prec=400)
"""A precision with enough digits for every float."""


def format_percent(share: float | None) -> str:
    """Return `93.3%` for 0.933."""
    return UNKNOWN if share is None else f"{_fixed(100 * share, 1)}%"


def format_points(difference: float | None) -> str:
    """Return a difference of shares in percentage points, with its sign: `+3.5 pp` for 0.035."""
    return UNKNOWN if difference is None else f"{_signed(100 * difference, 1)} pp"


def format_points_apart(difference: float) -> str:
    """Return how far apart shares are, without a sign: `3.5 percentage points` for 0.035."""
    return f"{_fixed(100 * abs(difference), 1)} percentage points"


def format_signed_percent(share: float) -> str:
    """Return a relative change: `+3.5%` for 0.035."""
    return f"{_signed(100 * share, 1)}%"


def format_ratio(ratio: float | None) -> str:
    """Return by how much an amount changed, `+3.5%` for 1.035, or its factor, `×2.1`."""
    return UNKNOWN if ratio is None else _form_of_ratios([ratio])(ratio)


def format_ratio_interval(interval: Sequence[float] | None) -> str:
    """Return `−3.1% to +38.0%`, or both bounds as factors, `×0.45 to ×1.30`; empty without an interval."""
    return format_interval(interval, _form_of_ratios(interval or ()))


def format_ratio_words(ratio: float) -> str:
    """Return `3.5% more`, `20.0% less`, `2.1 times as much` or `5,000 times less`."""
    if ratio < _MIN_PERCENT_RATIO:
        return f"{_factor(1 / ratio)} times less"
    if ratio > _MAX_PERCENT_RATIO:
        return f"{_factor(ratio)} times as much"
    return f"{_fixed(100 * abs(ratio - 1), 1)}% {'less' if ratio < 1 else 'more'}"


def is_same_ratio(ratio: float) -> bool:
    """Return whether the change is shown as `0.0%`."""
    return not _is_not_zero(_fixed(100 * (ratio - 1), 1))


def format_decimal(value: float | None) -> str:
    return UNKNOWN if value is None else _fixed(value, 2)


def format_difference(value: float | None) -> str:
    return UNKNOWN if value is None else _signed(value, 2)


def format_p(p: float | None) -> str:
    """Return a p-value as `0.034`, or `< 0.001`, because none is 0."""
    return UNKNOWN if p is None else "< 0.001" if p < _LEAST_P else _fixed(p, 3)


def format_confidence(alpha: float) -> str:
    """Return the level of intervals, `95%` for 0.05; 99.9% is not rounded to 100%."""
    return f"{_fixed(100 * (1 - alpha), 1).removesuffix('.0')}%"


def format_usd(amount: float | None) -> str:
    """Return `$0`, `$1,234.50`, or two significant digits below ten cents, so that no price is rounded to 0."""
    if amount is None:
        return UNKNOWN
    if amount == 0:
        return "$0"
    size = Decimal(amount).copy_abs()
    places = 2 if size >= Decimal(_CENTS) else 1 - size.adjusted()
    digits = f"{size.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT):,f}"
    if places > 2:
        digits = digits.rstrip("0")
    return f"{_MINUS if amount < 0 else ''}${digits}"


def format_interval(interval: Sequence[float] | None, form: Callable[[float], str]) -> str:
    """Return `67.6% to 100.0%`; empty without an interval."""
    return " to ".join(map(form, interval)) if interval else ""


def with_interval(value: float | None, interval: Sequence[float] | None, form: Callable[[float | None], str]) -> str:
    """Return `86.2% (67.6% to 100.0%)`."""
    bounds = format_interval(interval, form) if value is not None else ""
    return f"{form(value)} ({bounds})" if bounds else form(value)


def _form_of_ratios(ratios: Sequence[float]) -> Callable[[float], str]:
    is_percent = all(_MIN_PERCENT_RATIO <= each <= _MAX_PERCENT_RATIO for each in ratios)
    return (lambda ratio: format_signed_percent(ratio - 1)) if is_percent else (lambda ratio: f"×{_factor(ratio)}")


def _factor(ratio: float) -> str:
    """Return no decimal place from 10 on, one from 2 on, two from 0.1 on, and two significant digits below."""
    if ratio < _LEAST_FACTOR:
        return _fixed(ratio, 1 - Decimal(ratio).adjusted())
    return _fixed(ratio, 0 if ratio >= 10 else 1 if ratio >= 2 else 2)


def _fixed(value: float, places: int) -> str:
    digits = f"{Decimal(value).copy_abs().quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT):,f}"
    return f"{_MINUS}{digits}" if value < 0 and _is_not_zero(digits) else digits


def _signed(value: float, places: int) -> str:
    text = _fixed(value, places)
    return f"+{text}" if value > 0 and _is_not_zero(text) else text


def _is_not_zero(digits: str) -> bool:
    return any(digit in "123456789" for digit in digits)
