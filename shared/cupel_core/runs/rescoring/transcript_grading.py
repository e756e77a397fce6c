"""Another grading of one transcript: its criteria, its assertions, and its selections among the targets' outputs."""

from collections.abc import Mapping
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.conversations.outcomes import assertion_context
from cupel_core.conversations.specs import ConversationSpec
from cupel_core.domain.conversations.conversation import ConversationOutcome, Criteria, Verdict, apply_verdict
from cupel_core.domain.conversations.model_parameters import ParameterFields, merge_parameters
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.identifiers import thread_id
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import SELECT_BEST, Assertion, AssertionResult
from cupel_core.domain.scoring.rescores import RescoreConfig, RescoreResult
from cupel_core.domain.scoring.scoring import CRITERIA, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.scoring.grading.criteria import evaluate_criteria, unjudged_result
from cupel_core.scoring.grading.grader import GraderError
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.score import AssertionScores, score
from cupel_core.scoring.selections import SelectionRunner

_CONTENT_DELETED = "the conversation was deleted, or its retention period has ended"


_TRANSCRIPT = "transcript"
"""A transcript that could not be graded at all has a result of this type."""


def was_graded(result: RescoreResult) -> bool:
    """Return whether the result comes from a conversation that was read, and so may quote it."""
    return result.scoring is not None and any(each.type != _TRANSCRIPT for each in result.scoring.results)


def assertions_of(config: RescoreConfig, content: Content, scenario: Scenario) -> tuple[Assertion, ...]:
    return (*content.assertions, *scenario.assertions) if config.assertions is None else config.assertions


class _CriteriaGrading(NamedTuple):
    """The grading by criteria. `results` is the earlier result if it is unchanged, or an error in place of an
    outcome."""

    outcome: ConversationOutcome | None = None
    verdict: Verdict | None = None
    results: tuple[AssertionResult, ...] = ()
    spend: Spend = Spend()


@dataclass(frozen=True)
class TranscriptGrader:
    run: Run
    scenarios: Mapping[int, Scenario]
    content: Content
    config: RescoreConfig
    graders: GraderFactory
    selections: SelectionRunner

    async def grade(self, transcript: Transcript) -> RescoreResult:
        """Return the transcript's new result, without comparisons of scores (`comparisons.py`). TimeIsUp and RetryLater
        pass through. Every other failure becomes an error."""
        if not transcript.messages:
            cause = UnscoredCause(UnscoredCode.DELETED)
            deleted = AssertionResult.uncomputed(_TRANSCRIPT, _CONTENT_DELETED, cause)
            return RescoreResult.of(transcript, build_scoring(None, None, (deleted,)), Spend())
        scenario = self.scenarios[self.run.plan.probe(transcript.probe_index).case]
        assertions = assertions_of(self.config, self.content, scenario)
        by_criteria = await self._grade_criteria(transcript, scenario)
        scored = await self._score(transcript, scenario, assertions)
        selected = await self.selections.select(transcript.probe_index, assertions, scenario.variables, {SELECT_BEST})
        results = (*by_criteria.results, *scored.results, *selected.results)
        left_out = scenario.left_out_checks if self.config.assertions is None else {}
        scoring = build_scoring(by_criteria.outcome, by_criteria.verdict, results, scored.evaluator_note, left_out)
        return RescoreResult.of(transcript, scoring, by_criteria.spend + scored.spend + selected.spend)

    async def _grade_criteria(self, transcript: Transcript, scenario: Scenario) -> _CriteriaGrading:
        earlier = transcript.scoring
        if not self.config.requires_new_verdicts(self.run.grader_config):
            kept = tuple(result for result in earlier.results if result.type == CRITERIA) if earlier else ()
            if any(result.unusable_reply for result in kept):
                return await self._judge(transcript, scenario.criteria)
            return _CriteriaGrading(verdict=earlier.verdict if earlier else None, results=kept)
        criteria = scenario.criteria if self.config.criteria is None else self.config.criteria
        return await self._judge(transcript, criteria) if criteria.is_set else _CriteriaGrading()

    async def _judge(self, transcript: Transcript, criteria: Criteria) -> _CriteriaGrading:
        try:
            reply = await evaluate_criteria(self.graders.judge(), transcript.messages, criteria, [])
        except GraderError as error:
            return _CriteriaGrading(results=(unjudged_result(error),), spend=error.spend)
        return _CriteriaGrading(apply_verdict(reply.value, criteria, is_last=True), reply.value, spend=reply.spend)

    def _params(self, index: int) -> ParameterFields:
        """Return the parameters of the probe's target, because some assertions check calls of its tools."""
        column = self.run.plan.column_of(index)
        prompt = self.content.prompt(column.prompt_id)
        return merge_parameters(self.run.parameters_of(column.target), prompt.params if prompt else {})

    async def _score(
        self, transcript: Transcript, scenario: Scenario, assertions: tuple[Assertion, ...]
    ) -> AssertionScores:
        index = transcript.probe_index
        thread = thread_id(self.run.id, index, transcript.retry_round)
        spec = ConversationSpec(index, scenario, self.content, self.graders, thread, params=self._params(index))
        return await score(assertions, assertion_context(spec, transcript.conversation), self.graders)
