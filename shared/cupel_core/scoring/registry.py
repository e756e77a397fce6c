"""The assertions that call models or servers, by kind."""

from collections.abc import Awaitable, Callable, Mapping

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.scoring import external_evaluators, model_graded, similarity, templated_graders
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, SpendLog
from cupel_core.scoring.grading.graders import GraderFactory

type GradedCheck = Callable[[Assertion, AssertionContext, GraderFactory, SpendLog], Awaitable[CheckResult]]

GRADED_CHECKS: Mapping[str, GradedCheck] = {
    "llm-rubric": model_graded.llm_rubric,
    "g-eval": model_graded.g_eval,
    "factuality": model_graded.factuality,
    "similar": similarity.similar,
    "answer-relevance": similarity.answer_relevance,
    "embedding-similarity": templated_graders.embedding_similarity,
    "label-model": templated_graders.label_model,
    "score-model": templated_graders.score_model,
    "webhook": lambda assertion, context, graders, _: external_evaluators.webhook(
        assertion, context, graders.allow_private
    ),
}
