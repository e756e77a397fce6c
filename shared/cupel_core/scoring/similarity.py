"""Semantic similarity of texts, by an embedding model."""

from math import sqrt, sumprod
from typing import Annotated

from pydantic import Field

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.providers import prices
from cupel_core.providers.completion import with_retry
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reservations import spend_of_failed_embedding
from cupel_core.providers.wire_format import Embeddings, Vector
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, SpendLog, binary, graded
from cupel_core.scoring.grading.grader import Grader, failed_call
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.grading.replies import StructuredReply, text_list
from cupel_core.scoring.model_graded import ask_grader
from cupel_core.scoring.texts import threshold_of


async def similar(
    assertion: Assertion, context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """The similarity of the output to the nearest of the expected texts."""
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
    """How similar the questions that an output answers are to the actual question (Es et al., 2023)."""
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
    """The vectors of the texts, in their order. Adds the spend to the log, also that of attempts without an answer."""

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
    """Cosine similarity; 0 if one of the vectors is zero."""
    length = sqrt(sumprod(left, left) * sumprod(right, right))
    return sumprod(left, right) / length if length else 0.0
