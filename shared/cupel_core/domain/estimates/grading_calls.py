"""Estimates the calls of judges and embedding models that assertions need, as `cupel_core/scoring` makes them."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS, LLM_RUBRIC, RUBRIC_PROMPT
from cupel_core.domain.scoring.assertions import SELECT_BEST, Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.text.token_counts import estimated_tokens

_G_EVAL = "g-eval"
_READ_THE_QUESTION = frozenset({_G_EVAL, "factuality"})
_QUESTIONS_TOKENS = 60.0
"""The three questions that a judge writes to an answer, for comparison with the actual one, have this many tokens."""


class GradingCall(NamedTuple):
    model: str
    value_tokens: float
    """The assertion's own texts, such as a rubric, have this many tokens."""
    answers: int = 1
    per_conversation: float = 1.0
    """Less than one if several conversations share the call."""
    reads_opening: bool = False
    reads_conversation: bool = False
    """The call reads the whole conversation if that is more than one question and its answer."""
    embeds: bool = False
    """The model returns vectors of what it reads, and writes nothing."""


def grading_calls(assertions: Iterable[Assertion], graders: GraderConfig, candidates: int) -> tuple[GradingCall, ...]:
    """Return the calls; `assertions` include the parts of sets, and a selection compares `candidates` answers to one
    case."""
    return tuple(
        call
        for assertion in assertions
        for call in (*_judge_calls(assertion, graders.judge_model, candidates), *_embeddings(assertion, graders))
    )


def _embeddings(assertion: Assertion, graders: GraderConfig) -> Iterator[GradingCall]:
    """Yield the embedding calls; an assertion that needs both models names the judge, and no embedding model."""
    kind = ASSERTION_KINDS.get(assertion.kind)
    if kind is None or not kind.needs_embedder:
        return
    model = graders.embedding_model if kind.needs_judge else assertion.provider or graders.embedding_model
    if model is None:
        return
    if kind.needs_judge:
        yield GradingCall(model, _QUESTIONS_TOKENS, answers=0, reads_opening=True, embeds=True)
    else:
        yield GradingCall(model, _tokens(assertion.value), embeds=True)


def _judge_calls(assertion: Assertion, judge: str | None, candidates: int) -> Iterator[GradingCall]:
    kind, model = ASSERTION_KINDS.get(assertion.kind), assertion.provider or judge
    if kind is None or not kind.needs_judge or model is None:
        return
    tokens = _tokens(assertion.value) + _tokens((assertion.config or {}).get(RUBRIC_PROMPT))
    if assertion.kind == SELECT_BEST:
        if candidates > 1:
            yield GradingCall(model, tokens, candidates, per_conversation=1 / candidates)
    elif assertion.kind == _G_EVAL:
        for criterion in assertion.value if isinstance(assertion.value, list) else [assertion.value]:
            yield GradingCall(model, _tokens(criterion), answers=0)  # this call writes the steps of the rating
            yield GradingCall(model, _tokens(criterion), reads_opening=True)
    else:
        is_rubric = assertion.kind == LLM_RUBRIC
        reads_opening = assertion.kind in _READ_THE_QUESTION
        yield GradingCall(model, tokens, reads_opening=reads_opening, reads_conversation=is_rubric)


def _tokens(value: Any) -> float:
    if value is None:
        return 0.0
    return estimated_tokens(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
