"""How much is tried: `make test` tries a part of what `make test-all` does."""

import os
from collections.abc import Sequence

IS_SEARCHING = os.environ.get("HYPOTHESIS_PROFILE") == "searching"
"""True if `make test-all` runs the tests."""
EXAMPLES = 100 if IS_SEARCHING else 30
"""Per test of a property."""


def some_of[T](values: Sequence[T], number: int) -> Sequence[T]:
    """All values with `make test-all`; otherwise every fourth, others for each number."""
    return values if IS_SEARCHING else values[number % 4 :: 4]
