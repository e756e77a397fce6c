"""One transcript judged anew: its criteria, its assertions, and its contests with what other targets answered."""

from dataclasses import dataclass
from typing import NamedTuple

from cupel_core.conversations.runner import Task, evidence
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.rescores import Rescored, RescoringConfig
from cupel_core.domain.scoring.scoring import CRITERIA, conclude
from cupel_core.domain.turns.conversation import Criteria, Ruling, Spend, Verdict, decide
from cupel_core.grading.criteria import evaluate_criteria
from cupel_core.grading.grader import JudgeError
from cupel_core.grading.graders import Panel
from cupel_core.ids import thread_id
from cupel_core.providers.errors import PleaseWait
from cupel_core.scoring.score import Scored, score
from cupel_core.selections import Contests
from cupel_core.store.snapshots import Snapshot

_GONE = "what was said was deleted, or its time is over"


class _Judged(NamedTuple):
    """By criteria. `kept` is the component of the run's own scoring, or the error instead of a ruling."""

    ruling: Ruling | None = None
    verdict: Verdict | None = None
    kept: tuple[AssertionResult, ...] = ()
    spend: Spend = Spend()


@dataclass(frozen=True)
class Judging:
    """By what all transcripts of a scoring are judged."""

    run: Run
    snapshot: Snapshot
    content: Content
    config: RescoringConfig
    panel: Panel
    contests: Contests

    async def judge(self, transcript: Transcript) -> Rescored:
        """TimeIsUp passes through; whatever else keeps a judge from judging is a result with an error."""
        if not transcript.messages:
            lost = AssertionResult("transcript", None, None, "could not be computed", error=_GONE)
            return Rescored.of(transcript, conclude(None, None, (lost,)), Spend())
        scenario = self.snapshot.scenario(self.run.plan.probe(transcript.probe_index).case)
        assertions = self.assertions_of(scenario)
        judged = await self._by_criteria(transcript, scenario)
        scored = await self._score(transcript, scenario, assertions)
        compared = await self.contests.compared(transcript, assertions, scenario.variables)
        results = (*judged.kept, *scored.results, *compared.results)
        scoring = conclude(judged.ruling, judged.verdict, results, scored.evaluator_note)
        return Rescored.of(transcript, scoring, judged.spend + scored.spend + compared.spend)

    def assertions_of(self, scenario: Scenario) -> tuple[Assertion, ...]:
        given = self.config.assertions
        return (*self.content.assertions, *scenario.assertions) if given is None else given

    async def _by_criteria(self, transcript: Transcript, scenario: Scenario) -> _Judged:
        before = transcript.scoring
        if not self.config.judges_anew(self.run.evaluation):
            kept = tuple(result for result in before.results if result.type == CRITERIA) if before else ()
            return _Judged(verdict=before.verdict if before else None, kept=kept)
        criteria = self.config.criteria or scenario.criteria
        return await self._verdict(transcript, criteria) if criteria else _Judged()

    async def _verdict(self, transcript: Transcript, criteria: Criteria) -> _Judged:
        try:
            asked = await evaluate_criteria(self.panel.judge(), transcript.messages, criteria)
        except (JudgeError, PleaseWait) as error:
            failed = AssertionResult(CRITERIA, None, None, "could not be computed", error=error.detail)
            return _Judged(kept=(failed,), spend=error.spend if isinstance(error, JudgeError) else Spend())
        return _Judged(decide(asked.value, criteria, is_last=True), asked.value, spend=asked.spend)

    async def _score(self, transcript: Transcript, scenario: Scenario, assertions: tuple[Assertion, ...]) -> Scored:
        index = transcript.probe_index
        thread = thread_id(self.run.id, index, transcript.generation)
        task = Task(index, scenario, self.content, self.panel, thread)
        try:
            return await score(assertions, evidence(task, transcript.dialogue), self.panel)
        except PleaseWait as error:
            waiting = AssertionResult("assertions", None, None, "could not be computed", error=error.detail)
            return Scored((waiting,), Spend())
