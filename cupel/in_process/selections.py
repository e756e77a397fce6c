"""Compares the answers to a case once all targets have answered it (select-best, max-score)."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cupel.in_process.plan import EvaluationPlan
from cupel.in_process.saved_outcomes import OutcomeFile
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.scoring.assertions import MAX_SCORE, NOT_COMPUTED, Assertion
from cupel_core.domain.scoring.decisions import last_answer
from cupel_core.domain.scoring.max_score import select_max_score
from cupel_core.domain.scoring.selections import (
    Selection,
    assertion_result,
    comparisons,
    sibling_probes,
    with_selection_results,
)
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.providers.errors import RetryLater
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.selection import compare_answers


async def run_selections(
    plan: EvaluationPlan,
    outcomes: dict[int, Outcome],
    file: OutcomeFile | None,
    graders_for: Callable[[int], GraderFactory],
) -> None:
    slots = asyncio.Semaphore(plan.max_concurrency)

    async def select(index: int) -> None:
        async with slots:
            compared = await _add_results(plan, outcomes, index, graders_for(index))
            if file is not None and compared:
                file.record_comparison([outcomes[each] for each in compared])

    await asyncio.gather(*(select(index) for index in _selection_probes(plan)))


def _selection_probes(plan: EvaluationPlan) -> Iterator[int]:
    probes = ((index, plan.probe_plan.probe(index)) for index in range(plan.probe_plan.total))
    return (index for index, probe in probes if probe.column == 0 and _assertions(plan, index))


def _assertions(plan: EvaluationPlan, index: int) -> tuple[Assertion, ...]:
    scenario = plan.probe(index).scenario
    return comparisons((*plan.definition.content.assertions, *scenario.assertions))


async def _compare(
    candidates: Mapping[int, Transcript], assertion: Assertion, variables: Mapping[str, Any], graders: GraderFactory
) -> Selection:
    """Compare the answers. A judge whose provider asks to wait for too long becomes the selection's error."""
    if assertion.kind == MAX_SCORE:
        return select_max_score({each: transcript.scoring for each, transcript in candidates.items()}, assertion)
    answers = {each: last_answer(transcript.messages) for each, transcript in candidates.items()}
    try:
        return await compare_answers(answers, assertion, variables, graders)
    except RetryLater as wait:
        cause = UnscoredCause(UnscoredCode.JUDGE_FAILED, wait.model, str(wait.code))
        return Selection(tuple(answers), 1, None, NOT_COMPUTED, wait.detail, Spend(), cause)


async def _add_results(
    plan: EvaluationPlan, outcomes: dict[int, Outcome], index: int, graders: GraderFactory
) -> tuple[int, ...]:
    siblings = {each: outcomes[each] for each in sibling_probes(plan.probe_plan, index)}
    candidates = {each: outcome for each, outcome in siblings.items() if isinstance(outcome, Transcript)}
    if candidates.keys() <= (plan.saved.compared if plan.saved else set()):
        return ()
    variables = plan.probe(index).scenario.variables
    selections = [
        (assertion, await _compare(candidates, assertion, variables, graders)) for assertion in _assertions(plan, index)
    ]
    for each, transcript in candidates.items():
        results = [assertion_result(selection, assertion, each) for assertion, selection in selections]
        billed = (selection.spend for _, selection in selections if selection.billed_probe == each)
        judge_spend = sum(billed, transcript.conversation.judge_spend)
        outcomes[each] = replace(
            transcript,
            conversation=replace(transcript.conversation, judge_spend=judge_spend),
            scoring=with_selection_results(transcript.scoring, results),
        )
    return tuple(candidates)
