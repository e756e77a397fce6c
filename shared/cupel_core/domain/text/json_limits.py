"""Which JSON values of others are kept: what every reader and store on the way can hold, and no more."""

from math import isfinite

MAX_DEPTH = 20
_INTEGERS = 2**63


def unfit(value: object, depth: int = MAX_DEPTH) -> str | None:
    """Why a parsed JSON value cannot be kept; None when it can."""
    match value:
        case str():
            return None if _is_unicode(value) else "must not have half a surrogate pair"
        case int():
            return None if -_INTEGERS <= value < _INTEGERS else "must not have integers of more than 64 bits"
        case float():
            return None if isfinite(value) else "must not have numbers that are not finite"
        case dict() | list() if depth == 0:
            return f"must not be nested deeper than {MAX_DEPTH}"
        case dict():
            return next((why for pair in value.items() for part in pair if (why := unfit(part, depth - 1))), None)
        case list():
            return next((why for part in value if (why := unfit(part, depth - 1))), None)
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
