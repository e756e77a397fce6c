"""Makes one selection: a judge finds the best of several outputs. No store is needed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.assertion_values import render_variables
from cupel_core.domain.scoring.assertions import NOT_COMPUTED, Assertion
from cupel_core.domain.scoring.selections import Selection
from cupel_core.providers.errors import ProviderError
from cupel_core.scoring.check_result import NotComputable
from cupel_core.scoring.grading.grader import GraderError
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.model_graded import select_best
from cupel_core.scoring.score import cause_of


async def compare_answers(
    answers: Mapping[int, str],
    assertion: Assertion,
    variables: Mapping[str, Any],
    graders: GraderFactory,
    retry_round: int = 1,
) -> Selection:
    """Let the judge choose among `answers` (by probe index, at least one). A judge that fails is recorded as the
    selection's error; whatever stops a call passes through."""
    candidates = tuple(answers)
    try:
        rendered = replace(assertion, value=render_variables(assertion.value, variables))
        best = await select_best(rendered, tuple(answers.values()), graders)
    except (NotComputable, Invalid, ProviderError, ValueError) as error:
        spend = error.spend if isinstance(error, GraderError) else Spend()
        return Selection(candidates, retry_round, None, NOT_COMPUTED, str(error), spend, cause_of(error))
    return Selection(candidates, retry_round, candidates[best.index], best.reason, spend=best.spend)
