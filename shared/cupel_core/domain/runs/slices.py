"""How the missing probes of a leaf are cut into messages.

A slice never leaves its leaf nor its provider. Large slices cost fewer messages; small ones let two workers finish at
the same time. So the slices are large while much is left of a run and small towards its end (guided self-scheduling,
Polychronopoulos and Kuck 1987).
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.plan import Plan

_SIZES = ((2_000, 100), (1_000, 50), (150, 25))
"""While more than so many probes are left, slices of so many."""
SMALLEST = 5
"""Two workers of 25 slots that each take what they lack then share the last rounds exactly: with 10, one of them got
30 of the last 50 and the run took a round longer (1.08 instead of 1.03 of the ideal at 1 s per call)."""


def slice_size(remaining: int) -> int:
    """How many probes a slice should have when `remaining` are still to be sent."""
    return next((size for more_than, size in _SIZES if remaining > more_than), SMALLEST)


def providers_of(plan: Plan) -> tuple[str, ...]:
    """The provider of each target of a plan."""
    return tuple(target.partition("/")[0] for target in plan.targets)


def remaining(plan: Plan, provider: str, index: int) -> int:
    """How many probes of this provider the run has from `index` on."""
    targets = [number for number, name in enumerate(providers_of(plan)) if name == provider]
    ranges = (span for target in targets for span in plan.target_ranges(target))
    return sum(max(0, span.stop - max(span.start, index)) for span in ranges)


def leaves(plan: Plan, provider: str, first: int) -> Iterator[int]:
    """The leaves with probes of this provider, from leaf `first` on, in order."""
    targets = [number for number, name in enumerate(providers_of(plan)) if name == provider]
    following = first
    for span in sorted(
        (span for target in targets for span in plan.target_ranges(target)), key=lambda span: span.start
    ):
        for leaf in range(max(following, span.start // FANOUT), -(-span.stop // FANOUT)):
            yield leaf
            following = leaf + 1


def cut(plan: Plan, indexes: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """(provider, indexes) of each slice of one leaf's missing indexes, in order."""
    providers = providers_of(plan)
    for provider, group in groupby(indexes, key=lambda index: providers[plan.probe(index).target]):
        members = list(group)
        size = slice_size(remaining(plan, provider, members[0]))
        for first in range(0, len(members), size):
            yield provider, members[first : first + size]
