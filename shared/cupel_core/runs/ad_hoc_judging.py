"""The judge and the simulated user, asked on their own and not within a run."""

import asyncio
from collections.abc import Coroutine
from random import Random
from typing import Any

from cupel_core.accounts import account, model_error
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.turns.conversation import Criteria, Spend, Verdict
from cupel_core.domain.turns.model_request import Message
from cupel_core.errors import Invalid
from cupel_core.grading.criteria import evaluate_criteria
from cupel_core.grading.grader import Asked, Grader, JudgeError
from cupel_core.grading.simulated_user import generate_persona_message
from cupel_core.resources import personas
from cupel_core.resources.evaluation_settings import evaluation_of

TIMEOUT_SECONDS = 20.0
"""Of one call."""
IN_ALL_SECONDS = 25.0
"""With retries and a repair: a request has 29."""


async def judge(workspace: str, model: str | None, messages: tuple[Message, ...], criteria: Criteria) -> Asked[Verdict]:
    """Invalid for a model that cannot be asked; JudgeError when it makes no sense."""
    grader = await asyncio.to_thread(_grader, workspace, model or evaluation_of(workspace).judge_model)
    return await _in_time(evaluate_criteria(grader, messages, criteria))


async def speak(
    workspace: str,
    model: str | None,
    messages: tuple[Message, ...],
    persona: Persona | str | None,
    instructions: str | None,
) -> Asked[str]:
    """A persona is described, or named by its id."""
    evaluation = evaluation_of(workspace)
    grader = await asyncio.to_thread(_grader, workspace, model or evaluation.persona_model or evaluation.judge_model)
    who = await asyncio.to_thread(personas.get, workspace, persona) if isinstance(persona, str) else persona
    return await _in_time(generate_persona_message(grader, messages, who, instructions))


async def _in_time[T](asking: Coroutine[Any, Any, Asked[T]]) -> Asked[T]:
    try:
        async with asyncio.timeout(IN_ALL_SECONDS):
            return await asking
    except TimeoutError:
        raise JudgeError(f"no answer within {IN_ALL_SECONDS:g} s", Spend()) from None


def _grader(workspace: str, model: str | None) -> Grader:
    if model is None:
        raise Invalid.field("model", "must be given: the workspace has none configured (PUT /v1/settings)")
    if wrong := model_error(workspace, model):
        raise Invalid.field("model", wrong)
    access = account(workspace, model.partition("/")[0])
    return Grader(access, model, TIMEOUT_SECONDS, 2.0, Random())  # noqa: S311 - jitter
