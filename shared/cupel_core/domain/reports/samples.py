"""Selects the conversations that a report shows: deterministically, spread over scenarios, targets and personas."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import sha256
from heapq import heappush, heappushpop
from itertools import cycle
from typing import NamedTuple

from cupel_core.base.deferred import dataclass

MAX_TAGS = 20
"""Conversations are shown for at most this many tags, the most frequent ones."""
MAX_CANDIDATES = 100
"""Each tag has at most this many candidates, those with the lowest scores."""


class SampleCandidate(NamedTuple):
    probe_index: int
    score: float
    """The score of the conversation; 0 if it has none."""
    column: int
    scenario: str
    persona: str | None
    rank: int
    """Orders equal candidates, identically for the same seed."""

    @property
    def order(self) -> tuple[float, int]:
        return self.score, self.rank


def rank_of(seed: int, index: int) -> int:
    return int.from_bytes(sha256(f"{seed}:{index}".encode()).digest()[:8])


@dataclass
class CandidatePool:
    _heap: list[tuple[float, int, SampleCandidate]] = field(default_factory=list)

    def add(self, candidate: SampleCandidate) -> None:
        entry = (-candidate.score, -candidate.rank, candidate)
        if len(self._heap) < MAX_CANDIDATES:
            heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heappushpop(self._heap, entry)

    @property
    def candidates(self) -> list[SampleCandidate]:
        return sorted((entry[2] for entry in self._heap), key=lambda candidate: candidate.order)


def lowest_first(candidates: Sequence[SampleCandidate], count: int) -> list[SampleCandidate]:
    """Return the lowest scores; ties go to scenarios and targets that are shown least."""
    return list(_greedy(candidates, count, by_score=True, shown=Counter()))


def _greedy(
    candidates: Iterable[SampleCandidate], count: int, *, by_score: bool, shown: Counter[object]
) -> Iterator[SampleCandidate]:
    left = list(candidates)
    for _ in range(min(count, len(left))):
        chosen = min(left, key=lambda each: _key(each, shown, by_score=by_score))
        left.remove(chosen)
        shown.update(_properties(chosen))
        yield chosen


def _key(candidate: SampleCandidate, shown: Counter[object], *, by_score: bool) -> tuple[float, float, int]:
    times = sum(shown[each] for each in _properties(candidate))
    first, second = (candidate.score, times) if by_score else (times, candidate.score)
    return first, second, candidate.rank


def _properties(candidate: SampleCandidate) -> tuple[object, ...]:
    return ("scenario", candidate.scenario), ("column", candidate.column), ("persona", candidate.persona)


def summary_order(
    tags: Sequence[str],
    candidates: Mapping[str, Sequence[SampleCandidate]],
    passed: Sequence[SampleCandidate],
    count: int,
) -> list[SampleCandidate]:
    """Return the conversations for a summarizer: three failed ones for each that passed, for contrast.

    Tags take turns, the most frequent first; within a tag, conversations of scenarios, targets and personas that are
    shown least come first.
    """
    shown, chosen = Counter[object](), dict[int, SampleCandidate]()
    for tag in cycle(tags or [""]):
        left = [each for each in candidates.get(tag, ()) if each.probe_index not in chosen]
        chosen |= {each.probe_index: each for each in _greedy(left, 1, by_score=False, shown=shown)}
        if len(chosen) >= count or not _is_any_left(candidates, chosen):
            break
    contrast = list(_greedy(passed, max(1, count // 4), by_score=False, shown=shown))
    return list(_interleaved(list(chosen.values()), contrast))[:count]


def _is_any_left(candidates: Mapping[str, Sequence[SampleCandidate]], chosen: Mapping[int, SampleCandidate]) -> bool:
    return any(each.probe_index not in chosen for pool in candidates.values() for each in pool)


def _interleaved(failed: Sequence[SampleCandidate], passed: Sequence[SampleCandidate]) -> Iterator[SampleCandidate]:
    """Yield three failed candidates, one passed one, and so on; the rest of either comes last."""
    rest = list(passed)
    for number, candidate in enumerate(failed, start=1):
        yield candidate
        if number % 3 == 0 and rest:
            yield rest.pop(0)
    yield from rest
