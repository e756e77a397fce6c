from collections.abc import Mapping
from typing import Any

MAX_STATE_LENGTH = 2_000_000
"""All that the operations of one conversation produce has at most this many characters: values, versions, texts,
records."""
PLANNED_STEP_LENGTH = 50_000
"""A worker expects this many characters of one operation in a conversation."""
_SCALAR_LENGTH = 5
"""A number, a boolean or null counts as this many characters."""


def step_share(state_length: int, steps: int) -> int:
    """Return how much each operation of a turn may add to the state of past turns. It does not depend on what other
    operations of the turn add, and so not on which of them ends first."""
    return max(0, MAX_STATE_LENGTH - state_length) // max(1, steps)


def value_length(value: Any) -> int:
    """Return about how many characters a JSON value has; the number is exact for a text."""
    if isinstance(value, str):
        return len(value)
    length, pending = 0, [value]
    while pending:  # A recursive function would take nearly twice as long.
        each = pending.pop()
        if isinstance(each, str):
            length += len(each)
        elif isinstance(each, dict) or isinstance(each, Mapping):  # noqa: SIM101 - the first is much faster
            length += 2 + sum(map(len, each))
            pending += each.values()
        elif isinstance(each, list | tuple):
            length += 2
            pending += each
        else:
            length += _SCALAR_LENGTH
    return length
