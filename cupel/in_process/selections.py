"""select-best: once all targets have answered a case, the judge compares their answers."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cupel.in_process.plan import Order
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.scoring.assertion_values import render
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.decisions import last_answer
from cupel_core.domain.scoring.selections import Contest, contested, reconclude, result_of, rivals
from cupel_core.domain.turns.conversation import Spend
from cupel_core.errors import Invalid
from cupel_core.grading.grader import JudgeError
from cupel_core.providers.errors import PleaseWait, ProviderError
from cupel_core.scoring.check_result import Uncomputable
from cupel_core.scoring.model_graded import select_best


async def hold_contests(order: Order, outcomes: dict[int, Outcome]) -> None:
    """Changes the transcripts of every case that a select-best assertion is about."""
    slots = asyncio.Semaphore(order.max_concurrency)

    async def one(index: int) -> None:
        async with slots:
            await _decide(order, outcomes, index)

    await asyncio.gather(*(one(index) for index in _cases(order)))


def _cases(order: Order) -> Iterator[int]:
    """The first probe of each case and repeat that is contested."""
    probes = ((index, order.plan.probe(index)) for index in range(order.plan.total))
    return (index for index, probe in probes if probe.target == 0 and _contested(order, index))


def _contested(order: Order, index: int) -> tuple[Assertion, ...]:
    scenario = order.probe(index).scenario
    return contested((*order.subject.content.assertions, *scenario.assertions))


async def _decide(order: Order, outcomes: dict[int, Outcome], index: int) -> None:
    held = {each: outcomes[each] for each in rivals(order.plan, index)}
    entrants = {each: outcome for each, outcome in held.items() if isinstance(outcome, Transcript)}
    if not entrants:
        return
    answers = {each: last_answer(transcript.messages) for each, transcript in entrants.items()}
    variables = order.probe(index).scenario.variables
    held_for = [(each, await _contest(order, each, answers, variables)) for each in _contested(order, index)]
    for each, transcript in entrants.items():
        results = [result_of(contest, assertion, each) for assertion, contest in held_for]
        spent = sum((contest.spend for _, contest in held_for if contest.payer == each), transcript.dialogue.judge)
        dialogue = replace(transcript.dialogue, judge=spent)
        outcomes[each] = replace(transcript, dialogue=dialogue, scoring=reconclude(transcript.scoring, results))


async def _contest(
    order: Order, assertion: Assertion, answers: Mapping[int, str], variables: Mapping[str, Any]
) -> Contest:
    entrants = tuple(answers)
    if len(entrants) == 1:
        return Contest(entrants, 1, entrants[0], "there is no other answer to compare it with")
    try:
        rendered = replace(assertion, value=render(assertion.value, variables))
        best = await select_best(rendered, tuple(answers.values()), order.panel)
    except (Uncomputable, Invalid, ProviderError, PleaseWait, ValueError) as error:
        spend = error.spend if isinstance(error, JudgeError) else Spend()
        return Contest(entrants, 1, None, "could not be computed", str(error), spend)
    return Contest(entrants, 1, entrants[best.index], best.reason, spend=best.spend)
