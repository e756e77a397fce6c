from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.contract.report_content import ReportConversationResponse
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.reports.grader_agreement import GraderPairs
from cupel_core.domain.reports.samples import CandidatePool, SampleCandidate, rank_of
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.run import Run
from cupel_core.store import keys, outcomes, rescore_results
from cupel_core.store.counted_outcomes import counted
from cupel_core.store.outcome_items import StoredOutcome

MAX_CONVERSATIONS = 1_000
MAX_TAGS = 20
"""A conversation is listed with at most this many failure tags."""
RUN, CORRECTIONS = "run", "corrections"


class CompletedOutcome(NamedTuple):
    stored: StoredOutcome
    counted: CountedOutcome

    @property
    def probe_index(self) -> int:
        return self.stored.index

    @property
    def own_success(self) -> bool | None:
        success: bool | None = (self.stored.body.get("scored") or {}).get("success")
        return success

    @property
    def corrected_success(self) -> bool | None:
        correction = self.stored.correction
        return correction["success"] if correction else None


@dataclass
class Scan:
    run: Run
    tags: frozenset[str]
    """Failed conversations become candidates only if they have one of these tags."""
    rescore_ids: Sequence[str] = ()
    conversations: list[ReportConversationResponse] = field(default_factory=list)
    candidates: dict[str, CandidatePool] = field(default_factory=dict)
    passed: CandidatePool = field(default_factory=CandidatePool)
    pairs: dict[tuple[str, str], GraderPairs] = field(default_factory=dict)

    def read(self) -> "Scan":
        ref = RunRef(self.run.workspace, self.run.id)
        for block in keys.blocks(range(self.run.plan.total)):
            rescored = {each: dict(rescore_results.list_bodies(ref, each, block)) for each in self.rescore_ids}
            for found in list_completed(ref, block):
                self._add(found)
                for rescore_id, bodies in rescored.items():
                    self._pair(RUN, rescore_id, found.own_success, bodies.get(found.probe_index, {}).get("success"))
        return self

    def _add(self, found: CompletedOutcome) -> None:
        if len(self.conversations) < MAX_CONVERSATIONS:
            self.conversations.append(conversation(self.run, found))
        self._pair(RUN, CORRECTIONS, found.own_success, found.corrected_success)
        outcome = found.counted
        if outcome.success:
            self.passed.add(self._candidate(found))
        elif chosen := self.tags.intersection(outcome.tags):
            candidate = self._candidate(found)
            for tag in chosen:
                self.candidates.setdefault(tag, CandidatePool()).add(candidate)

    def _pair(self, first: str, second: str, own: bool | None, other: bool | None) -> None:
        if own is not None and other is not None:
            self.pairs.setdefault((first, second), GraderPairs()).add(own, other)

    def _candidate(self, found: CompletedOutcome) -> SampleCandidate:
        index, body = found.probe_index, found.stored.body
        column = self.run.plan.probe(index).column
        rank = rank_of(self.run.sample_seed, index)
        return SampleCandidate(
            index, found.counted.score or 0.0, column, body["scenarioId"], body.get("personaId"), rank
        )


def list_completed(ref: RunRef, indexes: range) -> Iterator[CompletedOutcome]:
    """Yield the completed ones of these probes in ascending order, read lazily and without the texts."""
    for stored in outcomes.list_stored(ref, indexes):
        if stored.completed:
            yield CompletedOutcome(stored, counted(stored))


def conversation(run: Run, found: CompletedOutcome) -> ReportConversationResponse:
    column, outcome = run.plan.columns[run.plan.probe(found.probe_index).column], found.counted
    return ReportConversationResponse(
        conversation_id=transcript_id(run.id, found.probe_index),
        target_id=column.target.id,
        prompt_id=column.prompt_id,
        scenario_id=found.stored.body["scenarioId"],
        success=outcome.success,
        score=outcome.score,
        failure_tags=list(outcome.tags[:MAX_TAGS]),
        assertion_results=dict(outcome.checks),
    )
