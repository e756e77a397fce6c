"""The assertions whose answer comes from elsewhere, by their kind."""

from collections.abc import Awaitable, Callable, Mapping

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.grading.graders import Panel
from cupel_core.scoring import external_evaluators, model_graded, similarity
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.check_result import Ledger, Outcome

type Judgement = Callable[[Assertion, Evidence, Panel, Ledger], Awaitable[Outcome]]

JUDGEMENTS: Mapping[str, Judgement] = {
    "llm-rubric": model_graded.llm_rubric,
    "g-eval": model_graded.g_eval,
    "factuality": model_graded.factuality,
    "similar": similarity.similar,
    "answer-relevance": similarity.answer_relevance,
    "webhook": lambda assertion, evidence, panel, _: external_evaluators.webhook(
        assertion, evidence, panel.allow_private
    ),
}
