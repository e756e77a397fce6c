import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cupel_core.base import event_loop
from cupel_core.base.errors import FieldError, Invalid
from cupel_core.contract.openai_evals import RunGrader
from cupel_core.contract.openai_fields import AnyGrader, MultiGrader, grader_json
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.openai_evals.graders import score_in_range, to_assertion
from cupel_core.domain.openai_evals.rows import ITEM
from cupel_core.domain.runs.views import ProbeView
from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.decisions import last_answer
from cupel_core.domain.scoring.derived_metrics import DerivedMetric, derive
from cupel_core.runs.ad_hoc_judging import grade_answer
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.templated import judge_messages, render_value

_REWARD = "reward"


class GraderRun(NamedTuple):
    name: str
    type: str
    reward: float | None
    rewards: Mapping[str, float]
    results: Mapping[str, AssertionResult]
    models: tuple[str, ...]
    tokens: int
    seconds: float


def validate(grader: AnyGrader) -> None:
    """Raise Invalid, naming the invalid fields."""
    _assertions(grader)


def run(workspace: str, body: RunGrader) -> GraderRun:
    """Grade one sample. Raises the same errors as grading an answer."""
    grader, started_at = body.grader, time.monotonic()
    assertions = _assertions(grader)
    if any(each.kind == "embedding-similarity" for each in assertions.values()):
        raise Invalid.field("grader.evaluation_metric", "cosine is computed in runs of evals only")
    context = AssertionContext(body.model_sample, variables={ITEM: body.item if body.item is not None else {}})
    scores = event_loop.run(grade_answer(workspace, list(assertions.values()), context))
    results = dict(zip(assertions, scores.results, strict=True))
    rewards = {
        name: score_in_range(assertions[name], result.score)
        for name, result in results.items()
        if result.score is not None
    }
    return GraderRun(
        name=grader.name,
        type=grader.type,
        reward=_reward(grader, rewards),
        rewards=rewards if isinstance(grader, MultiGrader) else {},
        results=results,
        models=tuple(dict.fromkeys(each.provider for each in assertions.values() if each.provider)),
        tokens=scores.spend.usage.total,
        seconds=time.monotonic() - started_at,
    )


def judge_input(assertion: Assertion, view: ProbeView) -> Sequence[Message]:
    """Return the messages that the judge of a probe's answer received.

    There are none if the conversation is missing or cannot be rendered, or if a transform changed what the judge saw of
    the answer.
    """
    conversation = view.conversation
    if conversation is None or not conversation.messages or assertion.transforms:
        return ()
    context = AssertionContext(
        last_answer(conversation.messages),
        conversation.messages,
        finish_reason=conversation.finish_reason,
        variables=view.case.variables,
        turns=conversation.turns,
        target_calls=conversation.target_calls,
    )
    try:
        if assertion.turn is not None:
            context = context.at_turn(assertion.turn)
        return judge_messages(replace(assertion, value=render_value(assertion.value, context)))
    except ValueError:
        return ()


def _reward(grader: AnyGrader, rewards: Mapping[str, float]) -> float | None:
    if not isinstance(grader, MultiGrader):
        return rewards.get(grader.name)
    return derive([DerivedMetric(_REWARD, grader.calculate_output)], rewards, 1).get(_REWARD)


def _assertions(grader: AnyGrader) -> dict[str, Assertion]:
    parts: Mapping[str, Any] = grader.parts() if isinstance(grader, MultiGrader) else {grader.name: grader}
    written = {name: to_assertion(_with_threshold(grader_json(part))) for name, part in parts.items()}
    issues = assertion_issues(list(written.values()), "grader")
    if issues:
        raise Invalid.fields(FieldError("grader", f"{issue.field}: {issue.message}") for issue in issues)
    return {name: Assertion.from_json(each) for name, each in written.items()}


def _with_threshold(grader: dict[str, Any]) -> dict[str, Any]:
    """Add a threshold, which an assertion of this type needs and a reward does not."""
    return {"pass_threshold": 0.0, **grader} if grader["type"] == "text_similarity" else grader
