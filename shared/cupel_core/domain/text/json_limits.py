"""Limits of JSON values from outside: only what every reader and store on the way can represent is accepted."""

from math import isfinite

MAX_DEPTH = 20
_INTEGER_BOUND = 2**63


def json_limit_error(value: object, depth: int = MAX_DEPTH) -> str | None:
    """Why a parsed JSON value is not accepted; None if it is."""
    match value:
        case str():
            return None if _is_unicode(value) else "must not contain unpaired surrogates"
        case int():
            return (
                None if -_INTEGER_BOUND <= value < _INTEGER_BOUND else "must not contain integers of more than 64 bits"
            )
        case float():
            return None if isfinite(value) else "must not contain numbers that are not finite"
        case dict() | list() if depth == 0:
            return f"must not be nested deeper than {MAX_DEPTH}"
        case dict():
            return next(
                (error for pair in value.items() for part in pair if (error := json_limit_error(part, depth - 1))), None
            )
        case list():
            return next((error for part in value if (error := json_limit_error(part, depth - 1))), None)
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
