"""The assertions that call models or servers, by kind.

Some have texts or messages that are rendered from templates, and then embedded or shown to a judge.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.scoring.assertions import Assertion, JudgeReply
from cupel_core.domain.scoring.grader_values import DEFAULT_RANGE
from cupel_core.scoring import external_evaluators, model_graded, similarity
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, SpendLog, binary, graded
from cupel_core.scoring.grading.grader import GraderReply
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.grading.replies import Reason, ShortReply, choice_of, score_on
from cupel_core.scoring.model_graded import ask_messages
from cupel_core.scoring.similarity import cosine, embed_texts
from cupel_core.scoring.templated import TEXTS, judge_messages


class LabelReply(ShortReply):
    value_field = "label"


class ScoreReply(ShortReply):
    value_field = "score"


async def embedding_similarity(
    assertion: Assertion, _: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    grader, texts = graders.embedder(assertion.provider), tuple(assertion.value[name] for name in TEXTS)
    if not all(text.strip() for text in texts):
        return binary(False, "one of the texts is empty")
    left, right = await embed_texts(grader, texts, spend_log)
    return graded("cosine", cosine(left, right), assertion.threshold or 0.0)


async def label_model(
    assertion: Assertion, _: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """Passes if the judge chooses one of the passing labels."""
    labels = tuple(assertion.value["labels"])
    label = (Annotated[Literal[labels], choice_of(labels)], ...)
    reply_type = create_model("Label", __base__=LabelReply, reason=(Reason, ...), label=label)
    grader, messages = graders.judge(assertion.provider), judge_messages(assertion)
    reply = await ask_messages(grader, messages, reply_type, spend_log, ModelParameters())
    said = reply.value.model_dump()
    result = binary(said["label"] in assertion.value["passingLabels"], f"{said['label']}: {said['reason']}")
    return result._replace(judge_reply=_stored(reply))


async def score_model(
    assertion: Assertion, _: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """The judge's score, mapped from its range to 0 … 1; without a threshold it passes from the middle on."""
    low, high = assertion.value.get("range", DEFAULT_RANGE)
    score = (Annotated[float, Field(ge=low, le=high), score_on(low, high)], ...)
    reply_type = create_model("Score", __base__=ScoreReply, reason=(Reason, ...), score=score)
    grader, messages = graders.judge(assertion.provider), judge_messages(assertion)
    parameters = ModelParameters.from_json(assertion.value.get("params", {}))
    reply = await ask_messages(grader, messages, reply_type, spend_log, parameters)
    said = reply.value.model_dump()
    threshold = 0.5 if assertion.threshold is None else assertion.threshold
    result = graded("score", (said["score"] - low) / (high - low), threshold)
    reason = f"{said['score']:g} of {low:g} to {high:g}: {said['reason']}"
    return result._replace(reason=reason, judge_reply=_stored(reply))


def _stored(reply: GraderReply[Any]) -> JudgeReply:
    """The validated object instead of the reply's text, whose length is not bounded."""
    return JudgeReply(reply.value.model_dump_json(), reply.spend.usage, reply.finish_reason)


type GradedCheck = Callable[[Assertion, AssertionContext, GraderFactory, SpendLog], Awaitable[CheckResult]]

GRADED_CHECKS: Mapping[str, GradedCheck] = {
    "llm-rubric": model_graded.llm_rubric,
    "g-eval": model_graded.g_eval,
    "factuality": model_graded.factuality,
    "similar": similarity.similar,
    "answer-relevance": similarity.answer_relevance,
    "embedding-similarity": embedding_similarity,
    "label-model": label_model,
    "score-model": score_model,
    "webhook": lambda assertion, context, graders, _: external_evaluators.webhook(
        assertion, context, graders.allow_private
    ),
}
