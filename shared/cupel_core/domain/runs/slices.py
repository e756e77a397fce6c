"""Division of the missing probes of a leaf into messages.

A slice contains probes of one leaf and one provider. Large slices cost fewer messages; small ones let two workers
finish at the same time. So slices are large while much of a run is left and small towards its end (guided
self-scheduling, Polychronopoulos and Kuck 1987).
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.plan import Plan

_SIZES = ((2_000, 100), (1_000, 50), (150, 25))
"""(remaining, size): while more than `remaining` probes are left, slices have `size` probes."""
MIN_SLICE_SIZE = 5
"""With 5, two workers of 25 slots that each refill their free slots share the last rounds exactly. With 10, one of them
got 30 of the last 50 and the run took one round longer (1.08 instead of 1.03 of the ideal at 1 s per call)."""


def slice_size(probes_left: int) -> int:
    """The number of probes a slice should have when `probes_left` are still to be sent."""
    return next((size for threshold, size in _SIZES if probes_left > threshold), MIN_SLICE_SIZE)


def providers_of(plan: Plan) -> tuple[str, ...]:
    """The provider of each target of a plan, in the plan's order."""
    return tuple(target.partition("/")[0] for target in plan.targets)


def remaining_probes(plan: Plan, provider: str, index: int) -> int:
    """The number of the run's probes of this provider from `index` on."""
    return sum(max(0, span.stop - max(span.start, index)) for span in provider_ranges(plan, provider))


def provider_ranges(plan: Plan, provider: str) -> tuple[range, ...]:
    """The indexes of the run's probes of this provider."""
    targets = [number for number, name in enumerate(providers_of(plan)) if name == provider]
    return tuple(span for target in targets for span in plan.target_ranges(target))


def provider_leaves(plan: Plan, provider: str, first: int) -> Iterator[int]:
    """The leaves that contain probes of this provider, from leaf `first` on, in order."""
    next_leaf = first
    for span in sorted(provider_ranges(plan, provider), key=lambda span: span.start):
        for leaf in range(max(next_leaf, span.start // FANOUT), -(-span.stop // FANOUT)):
            yield leaf
            next_leaf = leaf + 1


def cut_slices(plan: Plan, indexes: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Divides one leaf's missing indexes into slices: (provider, indexes) of each, in order."""
    providers = providers_of(plan)
    for provider, group in groupby(indexes, key=lambda index: providers[plan.probe(index).target]):
        members = list(group)
        size = slice_size(remaining_probes(plan, provider, members[0]))
        for first in range(0, len(members), size):
            yield provider, members[first : first + size]
