"""How near texts are to each other in meaning, as a model that embeds has it."""

from math import sqrt, sumprod
from typing import Annotated

from pydantic import Field

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.turns.conversation import Spend
from cupel_core.grading.grader import Grader
from cupel_core.grading.graders import Panel
from cupel_core.providers import prices
from cupel_core.providers.completion import with_retry
from cupel_core.providers.embeddings import Embedded, Vector, embed
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.check_result import Ledger, Outcome, found, measured
from cupel_core.scoring.model_graded import Shape, asked, tagged
from cupel_core.scoring.texts import threshold_of


async def similar(assertion: Assertion, evidence: Evidence, panel: Panel, ledger: Ledger) -> Outcome:
    """To the nearest of several texts."""
    expected = assertion.value if isinstance(assertion.value, list) else [assertion.value]
    grader = panel.embedder(assertion.provider)
    if not evidence.output.strip():
        return found(False, "the output is empty")
    output, *others = await vectors(grader, (evidence.output, *expected), ledger)
    return measured("similarity", max(cosine(output, other) for other in others), threshold_of(assertion))


_QUESTIONS = """You are given an answer to a question that you do not know. Write three questions, each of which this
text would be the answer to. Answer with one JSON object whose "questions" is the list of them."""


class _Questions(Shape):
    questions: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=3, max_length=3)]


async def answer_relevance(assertion: Assertion, evidence: Evidence, panel: Panel, ledger: Ledger) -> Outcome:
    """How near the questions that an output answers are to the one that was asked (Es et al., 2023)."""
    query = evidence.variables.get("query")
    question = query if isinstance(query, str) else evidence.question
    embedder = panel.embedder()
    if not (evidence.output.strip() and question.strip()):
        return found(False, "there is no question, or no answer")
    guessed = await asked(
        panel.judge(assertion.provider), _QUESTIONS, tagged(answer=evidence.output), _Questions, ledger
    )
    original, *others = await vectors(embedder, (question, *guessed.questions), ledger)
    nearness = sum(cosine(original, other) for other in others) / len(others)
    return measured("relevance", nearness, threshold_of(assertion))


async def vectors(grader: Grader, texts: tuple[str, ...], ledger: Ledger) -> tuple[Vector, ...]:
    async def attempt() -> Embedded:
        async with grader.guard():
            return await embed(grader.account, grader.model, texts, grader.timeout_seconds)

    answer = await with_retry(attempt, patience_seconds=grader.patience_seconds, rng=grader.rng)
    ledger.append(Spend(1, answer.usage, prices.cost_usd(grader.model, answer.usage)))
    return answer.vectors


def cosine(one: Vector, other: Vector) -> float:
    """0 where one of them is nothing."""
    length = sqrt(sumprod(one, one) * sumprod(other, other))
    return sumprod(one, other) / length if length else 0.0
