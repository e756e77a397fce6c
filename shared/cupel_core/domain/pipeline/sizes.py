"""How large the values of operations are."""

from collections.abc import Mapping
from typing import Any

MAX_STATE_LENGTH = 2_000_000
"""Characters of all that the operations of one conversation make: values, earlier versions, texts, and records."""
PLANNED_STEP_LENGTH = 50_000
"""What a worker expects of one operation in a conversation."""
_SCALAR_LENGTH = 5
"""Of a number, a boolean or null."""


def step_share(state_length: int, steps: int) -> int:
    """How much each operation of a turn may add to what past turns have made. Independent of what the others of the
    turn add, and so of which of them ends first."""
    return max(0, MAX_STATE_LENGTH - state_length) // max(1, steps)


def value_length(value: Any) -> int:
    """About how many characters a JSON value has; exact for a text."""
    if isinstance(value, str):
        return len(value)
    length, pending = 0, [value]
    while pending:  # A function that calls itself takes nearly twice as long.
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
