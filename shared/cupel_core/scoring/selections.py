"""Makes selections (select-best, max-score) among a run's targets, each once, by the first caller that needs it.

The result is stored in an item, on condition that this retry round has none. Then each candidate's transcript gets its
result in the slice that it belongs to, and its scoring is computed again. After a crash in between, the judge is not
called again and no second winner is selected. If a retry adds a candidate, the judge selects again; otherwise the
earlier result stays. The judge's calls are billed to the first candidate.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.transcripts import Transcript, readable_at
from cupel_core.domain.scoring.assertions import COMPARISONS, MAX_SCORE, Assertion, AssertionResult
from cupel_core.domain.scoring.decisions import last_answer
from cupel_core.domain.scoring.max_score import select_max_score
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.scoring.selections import Selection, assertion_result, comparisons, sibling_probes
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.selection import compare_answers
from cupel_core.store import outcomes, rescore_results, selections
from cupel_core.store.selections import RUN_SCORING
from cupel_core.store.snapshots import Snapshot


def needs_selection(snapshot: Snapshot) -> bool:
    """Return whether the definition or any scenario compares answers. Pages are marked, so none is read."""
    assertions = Content.from_json(snapshot.definition).assertions
    return bool(comparisons(assertions)) or any(page.needs_selection for page in snapshot.manifest.pages)


class SelectionOutcome(NamedTuple):
    """Contains the results of a transcript's selections. Their spend is counted for one of the candidates only."""

    results: tuple[AssertionResult, ...] = ()
    spend: Spend = Spend()


@dataclass
class SelectionRunner:
    ref: RunRef
    plan: Plan
    scoring_id: str
    """RUN_SCORING, or the id of a rescore."""
    retry_round: int
    graders: GraderFactory | None = None
    """None if only scores are compared."""
    _locks: defaultdict[tuple[int, int], asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _selections: dict[tuple[int, int], Selection] = field(default_factory=dict)

    async def select(
        self,
        index: int,
        assertions: Sequence[Assertion],
        variables: Mapping[str, Any],
        kinds: Collection[str] = COMPARISONS,
    ) -> SelectionOutcome:
        """Return the results of the comparisons of these kinds among the assertions, for the transcript of this probe.
        A failing judge leaves results with an error; TimeIsUp passes through."""
        results, spend = [], Spend()
        for assertion_index, assertion in enumerate(comparisons(assertions)):
            if assertion.kind not in kinds:
                continue
            selection = await self._get_selection(index, assertion_index, assertion, variables)
            results.append(assertion_result(selection, assertion, index))
            if selection.billed_probe == index:
                spend += selection.spend
        return SelectionOutcome(tuple(results), spend)

    async def _get_selection(
        self, index: int, assertion_index: int, assertion: Assertion, variables: Mapping[str, Any]
    ) -> Selection:
        siblings = sibling_probes(self.plan, index)
        key = siblings[0], assertion_index
        async with self._locks[key]:
            if key not in self._selections:
                selection = await asyncio.to_thread(selections.get, self.ref, self.scoring_id, *key)
                if selection is None or selection.retry_round < self.retry_round:
                    selection = await self._make_selection(key, selection, siblings, assertion, variables)
                self._selections[key] = selection
            return self._selections[key]

    async def _make_selection(
        self,
        key: tuple[int, int],
        earlier: Selection | None,
        siblings: Sequence[int],
        assertion: Assertion,
        variables: Mapping[str, Any],
    ) -> Selection:
        """Make a selection and return it as stored; an earlier one among the same candidates is reused unless it
        failed."""
        candidates = await asyncio.to_thread(self._list_candidates, siblings)
        answers = {candidate.probe_index: last_answer(candidate.messages) for candidate in candidates}
        if earlier is not None and earlier.error is None and earlier.candidates == tuple(answers):
            selection = replace(earlier, retry_round=self.retry_round)
        elif assertion.kind == MAX_SCORE:
            scorings = await asyncio.to_thread(self._get_scorings, candidates)
            selection = select_max_score(scorings, assertion, self.retry_round)
        elif self.graders is None:
            raise ValueError(f"{assertion.kind} needs a judge")
        else:
            selection = await compare_answers(answers, assertion, variables, self.graders, self.retry_round)
        return await asyncio.to_thread(self._record, key, selection, _expiry(candidates))

    def _get_scorings(self, candidates: Sequence[Transcript]) -> dict[int, Scoring | None]:
        """Return the scorings of the candidates by index, without those that were erased from a rescore."""
        if self.scoring_id == RUN_SCORING:
            return {candidate.probe_index: candidate.scoring for candidate in candidates}
        found = (rescore_results.find(self.ref, self.scoring_id, candidate.probe_index) for candidate in candidates)
        return {result.index: result.scoring for result in found if result is not None and result.scoring is not None}

    def _record(self, key: tuple[int, int], selection: Selection, expires_at: datetime | None) -> Selection:
        """Record a selection; without its reason if a candidate's content was erased while the judge compared."""
        recorded = selections.record(self.ref, self.scoring_id, *key, selection, expires_at)
        if not outcomes.list_erased(self.ref, recorded.candidates):
            return recorded
        selections.erase_content(self.ref, self.scoring_id, *key)
        return recorded.without_content()

    def _list_candidates(self, siblings: Sequence[int]) -> list[Transcript]:
        """Return the siblings that completed in this or an earlier retry round and still have their content,
        ascending."""
        stored = outcomes.get_many(self.ref, siblings)
        transcripts = [readable_at(stored[index], utc_now()) for index in siblings if index in stored]
        return [
            transcript
            for transcript in transcripts
            if isinstance(transcript, Transcript) and transcript.retry_round <= self.retry_round and transcript.messages
        ]


def _expiry(candidates: Sequence[Transcript]) -> datetime | None:
    """Return the earliest expiry of the conversations that the judge may quote."""
    expiries = (candidate.content_expires_at for candidate in candidates)
    return min((expiry for expiry in expiries if expiry), default=None)
