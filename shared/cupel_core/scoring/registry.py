"""Lists the assertions that call models or servers, by kind.

Some measure the semantic similarity of texts by an embedding model. Others have texts or messages that are rendered
from templates, and then embedded or shown to a judge.
"""

from collections.abc import Awaitable, Callable, Mapping
from math import sqrt, sumprod
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.scoring.assertions import Assertion, JudgeReply
from cupel_core.domain.scoring.grader_values import DEFAULT_RANGE
from cupel_core.providers import prices
from cupel_core.providers.completion import with_retry
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reservations import spend_of_failed_embedding
from cupel_core.providers.wire_format import Embeddings, Vector
from cupel_core.scoring import external_evaluators, model_graded
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, SpendLog, binary, graded
from cupel_core.scoring.grading.grader import Grader, GraderReply, failed_call
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.grading.replies import ShortReply, StructuredReply
from cupel_core.scoring.grading.reply_values import Reason, choice_of, score_on, text_list
from cupel_core.scoring.model_graded import ask_grader, ask_messages
from cupel_core.scoring.templated import TEXTS, judge_messages
from cupel_core.scoring.texts import threshold_of


async def similar(
    assertion: Assertion, context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    expected = assertion.value if isinstance(assertion.value, list) else [assertion.value]
    grader = graders.embedder(assertion.provider)
    if not context.output.strip():
        return binary(False, "the output is empty")
    output, *others = await embed_texts(grader, (context.output, *expected), spend_log)
    return graded("similarity", max(cosine(output, other) for other in others), threshold_of(assertion))


_QUESTIONS = """You are given the "answer" to a question that you do not know. Write three questions, each of which this
text would be the answer to. Answer with one JSON object whose "questions" is the list of them."""


class _Questions(StructuredReply):
    questions: Annotated[
        list[Annotated[str, Field(min_length=1)]], Field(min_length=3, max_length=3), text_list(most=3)
    ]


async def answer_relevance(
    assertion: Assertion, context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """Measure how similar the questions that an output answers are to the actual question (Es et al., 2023)."""
    query = context.variables.get("query")
    question = query if isinstance(query, str) else context.question
    embedder = graders.embedder()
    if not (context.output.strip() and question.strip()):
        return binary(False, "the question or the output is empty")
    generated = await ask_grader(
        graders.judge(assertion.provider), _QUESTIONS, {"answer": context.output}, _Questions, spend_log
    )
    original, *others = await embed_texts(embedder, (question, *generated.questions), spend_log)
    relevance = sum(cosine(original, other) for other in others) / len(others)
    return graded("relevance", relevance, threshold_of(assertion))


async def embed_texts(grader: Grader, texts: tuple[str, ...], spend_log: SpendLog) -> tuple[Vector, ...]:
    """Return the vectors of the texts in order. The spend, also of attempts without an answer, is added to the log."""

    async def attempt() -> Embeddings:
        async with grader.guard() as on_answer:
            try:
                answer = await grader.embed_attempt(grader.account, grader.model, texts, grader.timeout_seconds)
            except ProviderError as error:
                if (spend := spend_of_failed_embedding(grader.account, grader.model, texts, error)).has_calls:
                    spend_log.append(spend)
                raise
            on_answer(answer)
            return answer

    try:
        embeddings = await with_retry(attempt, max_wait_seconds=grader.max_wait_seconds, rng=grader.rng)
    except ProviderError as error:
        error.cause = failed_call(error.code, grader.model)
        raise
    spend_log.append(prices.spend_of_embeddings(grader.account, grader.model, embeddings.usage))
    return embeddings.vectors


def cosine(left: Vector, right: Vector) -> float:
    """Return 0 if one of the vectors is zero."""
    length = sqrt(sumprod(left, left) * sumprod(right, right))
    return sumprod(left, right) / length if length else 0.0


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
    """Pass if the judge chooses one of the passing labels."""
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
    """Map the judge's score from its range to 0 … 1; without a threshold it passes from the middle on."""
    low, high = assertion.value.get("range", DEFAULT_RANGE)
    score = (Annotated[float, Field(ge=low, le=high), score_on(low, high)], ...)
    reply_type = create_model("Score", __base__=ScoreReply, reason=(Reason, ...), score=score)
    grader, messages = graders.judge(assertion.provider), judge_messages(assertion)
    parameters = decode(ModelParameters, assertion.value.get("params", {}))
    reply = await ask_messages(grader, messages, reply_type, spend_log, parameters)
    said = reply.value.model_dump()
    threshold = 0.5 if assertion.threshold is None else assertion.threshold
    result = graded("score", (said["score"] - low) / (high - low), threshold)
    reason = f"{said['score']:g} of {low:g} to {high:g}: {said['reason']}"
    return result._replace(reason=reason, judge_reply=_stored(reply))


def _stored(reply: GraderReply[Any]) -> JudgeReply:
    """Return the validated object instead of the reply's text, whose length is not bounded."""
    return JudgeReply(reply.value.model_dump_json(), reply.spend.usage, reply.finish_reason)


type GradedCheck = Callable[[Assertion, AssertionContext, GraderFactory, SpendLog], Awaitable[CheckResult]]

GRADED_CHECKS: Mapping[str, GradedCheck] = {
    "llm-rubric": model_graded.llm_rubric,
    "g-eval": model_graded.g_eval,
    "factuality": model_graded.factuality,
    "similar": similar,
    "answer-relevance": answer_relevance,
    "embedding-similarity": embedding_similarity,
    "label-model": label_model,
    "score-model": score_model,
    "webhook": lambda assertion, context, graders, _: external_evaluators.webhook(
        assertion, context, graders.allow_private
    ),
}
