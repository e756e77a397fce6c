"""Calls of graders and of the simulated user outside a run, within one API request."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import Any

from cupel_core.accounts.keys import account_error, load_account, model_error
from cupel_core.accounts.leases import LeasePool
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict, Invalid, named_in_body
from cupel_core.budgets.charged_calls import workspace_calls
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.budgets.workspace_budgets import shortage
from cupel_core.domain.conversations.conversation import Criteria, Verdict
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt
from cupel_core.resources import personas
from cupel_core.resources.evaluation_settings import workspace_grader_config
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.grading.criteria import evaluate_criteria
from cupel_core.scoring.grading.grader import Grader, GraderError, GraderReply, GraderRole
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.grading.simulated_user import generate_persona_message, simulated_user_prompt
from cupel_core.scoring.score import AssertionScores, score

CALL_TIMEOUT_SECONDS = 20.0
TOTAL_TIMEOUT_SECONDS = 25.0
"""A call may take this long with its retries and a repair request. An API request may take 29 s."""
MAX_WAIT_SECONDS = 2.0
_MAX_SLOT_WAIT_SECONDS = 10.0
"""A call may wait this long for the account's limits. A person waits for the answer, so it has the highest priority."""


async def judge_conversation(
    workspace: str, model: str | None, messages: tuple[Message, ...], criteria: Criteria
) -> GraderReply[Verdict]:
    """Return the judge's verdict on these messages. `model` defaults to the workspace's judge. Raise Invalid for a
    model that cannot be called, GraderError when it gives no usable reply in time, CallPostponed while its account is
    paused or fully used, and Conflict when the workspace's budget is used up."""
    async with open_leases() as leases, paid_calls(workspace, leases) as attempt:
        default = workspace_grader_config(workspace).judge_model
        grader = await asyncio.to_thread(_load_grader, workspace, model or default, leases, attempt)
        return await _with_total_timeout(grader.role, evaluate_criteria(grader, messages, criteria))


async def simulate_user(
    workspace: str,
    model: str | None,
    messages: tuple[Message, ...],
    persona: Persona | str | None,
    instructions: str | None,
) -> GraderReply[str]:
    """Return the simulated user's next message. `persona` is a description or the id of a stored one. Raise Invalid for
    an unknown persona, and what `judge_conversation` raises."""
    config = workspace_grader_config(workspace)
    async with open_leases() as leases, paid_calls(workspace, leases) as attempt:
        default, role = config.persona_model or config.judge_model, GraderRole.SIMULATED_USER
        grader = await asyncio.to_thread(_load_grader, workspace, model or default, leases, attempt, role)
        description = await asyncio.to_thread(_load_persona, workspace, persona)
        prompt = simulated_user_prompt(description, instructions)
        return await _with_total_timeout(grader.role, generate_persona_message(grader, prompt, messages))


def open_leases() -> LeasePool:
    return LeasePool(priority=Priority.HIGH, max_wait_seconds=lambda: _MAX_SLOT_WAIT_SECONDS)


@asynccontextmanager
async def paid_calls(workspace: str, leases: LeasePool | None) -> AsyncIterator[Attempt]:
    try:
        async with workspace_calls(workspace, leases, seconds_left=lambda: TOTAL_TIMEOUT_SECONDS) as attempt:
            yield attempt
    except BudgetShortage as short:
        if short.exhausted is None:
            raise
        why = shortage(workspace, short.needed, utc_now()) or short.detail
        raise Conflict(f"the model cannot be called: {why}") from None


def _load_persona(workspace: str, persona: Persona | str | None) -> Persona | None:
    if not isinstance(persona, str):
        return persona
    with named_in_body("personaId"):
        return personas.get(workspace, persona)


async def _with_total_timeout[T](role: GraderRole, request: Coroutine[Any, Any, GraderReply[T]]) -> GraderReply[T]:
    try:
        async with asyncio.timeout(TOTAL_TIMEOUT_SECONDS):
            return await request
    except TimeoutError:
        message = f"the {role} gave no reply within {TOTAL_TIMEOUT_SECONDS:g} s"
        raise GraderError(role, message, Spend()) from None


def _load_grader(
    workspace: str,
    model: str | None,
    leases: LeasePool,
    attempt: Attempt,
    role: GraderRole = GraderRole.JUDGE,
) -> Grader:
    if model is None:
        raise Invalid.field("model", "is required: the workspace has no default (PUT /v1/settings sets it)")
    if problem := model_error(workspace, model):
        raise Invalid.field("model", problem)
    account = load_account(workspace, model.partition("/")[0])
    return Grader(
        account,
        model,
        CALL_TIMEOUT_SECONDS,
        MAX_WAIT_SECONDS,
        Random(),  # noqa: S311 - jitter
        attempt=attempt,
        guard=partial(leases.slot, workspace, account, model),
        role=role,
    )


async def grade_answer(workspace: str, assertions: Sequence[Assertion], context: AssertionContext) -> AssertionScores:
    """Compute the scores of these assertions for an answer. Raise Invalid for a model that cannot be called,
    GraderError if it takes too long, CallPostponed while an account is paused, and Conflict when the workspace's budget
    is used up."""
    models = {each.provider for each in assertions if each.provider is not None}
    async with open_leases() as leases, paid_calls(workspace, leases) as attempt:
        accounts = {
            model.partition("/")[0]: await asyncio.to_thread(_load_account, workspace, model) for model in models
        }
        config = await asyncio.to_thread(workspace_grader_config, workspace)
        graders = GraderFactory(
            workspace, config, accounts, leases, CALL_TIMEOUT_SECONDS, MAX_WAIT_SECONDS, attempt=attempt
        )
        try:
            async with asyncio.timeout(TOTAL_TIMEOUT_SECONDS):
                return await score(assertions, context, graders)
        except TimeoutError:
            why = f"the graders took more than {TOTAL_TIMEOUT_SECONDS:g} s"
            raise GraderError(GraderRole.JUDGE, why, Spend()) from None


def _load_account(workspace: str, model: str) -> Account:
    if problem := account_error(workspace, model):
        raise Invalid.field("grader.model", problem)
    return load_account(workspace, model.partition("/")[0])
