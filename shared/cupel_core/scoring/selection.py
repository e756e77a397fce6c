"""One contest: which of several answers a judge finds the best. Needs no store."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cupel_core.domain.scoring.assertion_values import render
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.selections import Contest
from cupel_core.domain.turns.conversation import Spend
from cupel_core.errors import Invalid
from cupel_core.grading.grader import JudgeError
from cupel_core.grading.graders import Panel
from cupel_core.providers.errors import PleaseWait, ProviderError
from cupel_core.scoring.check_result import Uncomputable
from cupel_core.scoring.model_graded import select_best


async def compare_answers(
    answers: Mapping[int, str],
    assertion: Assertion,
    variables: Mapping[str, Any],
    panel: Panel,
    generation: int = 1,
) -> Contest:
    """`answers` by probe, at least one. A judge that fails is told in the contest; what stops a call passes through."""
    entrants = tuple(answers)
    if len(entrants) == 1:
        return Contest(entrants, generation, entrants[0], "there is no other answer to compare it with")
    try:
        rendered = replace(assertion, value=render(assertion.value, variables))
        best = await select_best(rendered, tuple(answers.values()), panel)
    except (Uncomputable, Invalid, ProviderError, PleaseWait, ValueError) as error:
        spend = error.spend if isinstance(error, JudgeError) else Spend()
        return Contest(entrants, generation, None, "could not be computed", str(error), spend)
    return Contest(entrants, generation, entrants[best.index], best.reason, spend=best.spend)
