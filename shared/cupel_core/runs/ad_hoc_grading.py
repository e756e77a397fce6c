"""Assertions computed outside a run, within one API request."""

import asyncio
from collections.abc import Sequence

from cupel_core.accounts.keys import account_error, load_account
from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.providers.account import Account
from cupel_core.resources.evaluation_settings import workspace_grader_config
from cupel_core.runs.ad_hoc_judging import (
    CALL_TIMEOUT_SECONDS,
    MAX_WAIT_SECONDS,
    TOTAL_TIMEOUT_SECONDS,
    open_leases,
    paid_calls,
)
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.grading.grader import GraderError, GraderRole
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.score import AssertionScores, score


async def grade_answer(workspace: str, assertions: Sequence[Assertion], context: AssertionContext) -> AssertionScores:
    """What these assertions make of an answer. Raises Invalid for a model that cannot be called, GraderError if it
    takes too long, CallPostponed while an account is paused, and Conflict when the workspace's budget is used up."""
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
