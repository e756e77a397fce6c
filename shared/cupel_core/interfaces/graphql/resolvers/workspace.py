"""The caller, and what the workspace has configured."""

from typing import Any

from cupel_core.accounts import keys as accounts
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.budgets.workspace_budgets import get_use
from cupel_core.contract.evals import SettingsResponse, UpdateSettings
from cupel_core.contract.providers import ModelResponse, ProviderResponse
from cupel_core.contract.queues import (
    DeadLetterResponse,
    ProviderQueueResponse,
    RedriveDeadLetters,
    RedriveResultResponse,
)
from cupel_core.contract.workspace_budgets import BudgetsResponse
from cupel_core.interfaces.graphql.inputs import check_limit, check_text, parse, without_null
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.resources import evaluation_settings
from cupel_core.workspace.queues import dead_letters, status


@resolves("Query.me", "getSession")
async def me(request: Request, _: None) -> dict[str, Any]:
    return {"workspace": request.workspace, "role": request.caller.role, "tokenId": request.caller.token_id}


@resolves("Query.budgets", "getBudgets", 2)
def budgets(request: Request, _: None) -> Loaded:
    return Loaded(BudgetsResponse.of(*get_use(request.workspace, request.now)))


@resolves("Query.providers", "listProviders", 20)
def providers(request: Request, _: None) -> list[Loaded]:
    return [Loaded(ProviderResponse.of(view)) for view in accounts.list_providers(request.workspace)]


@resolves("Query.models", "listModels", 50)
def models(request: Request, _: None, *, usable_only: bool, provider: str | None = None) -> list[Loaded]:
    listed = [Loaded(ModelResponse.of(view)) for view in accounts.list_models(request.workspace, provider)]
    return [each for each in listed if each["usable"] or not usable_only]


@resolves("Query.queueStatus", "listQueues", 20)
def queue_status(request: Request, _: None) -> dict[str, Any]:
    return _queue_status(request)


def _queue_status(request: Request) -> dict[str, Any]:
    queues = [Loaded(ProviderQueueResponse.of(each)) for each in status.list_queues(request.workspace)]
    is_paused = any(each["paused"] for each in queues)
    return {
        "isRunning": not is_paused,
        "isPaused": is_paused,
        "pending": sum(each["pending"] for each in queues),
        "deadLetters": sum(each["deadLetters"] for each in queues),
        "providers": queues,
    }


@resolves("Query.settings", "getSettings")
def settings(request: Request, _: None) -> Loaded:
    return Loaded(SettingsResponse.of(evaluation_settings.get_settings(request.workspace)))


@resolves("Mutation.updateSettings", "updateSettings", 5)
def update_settings(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    changed = evaluation_settings.update_settings(
        request.workspace, parse(UpdateSettings, body).changes(), UNCONDITIONAL
    )
    return Loaded(SettingsResponse.of(changed))


@resolves("Mutation.pauseQueue", "pauseQueues", 20)
def pause_queue(request: Request, _: None, provider: str | None = None) -> dict[str, Any]:
    status.pause(request.workspace, provider)
    return _queue_status(request)


@resolves("Mutation.resumeQueue", "resumeQueues", 20)
def resume_queue(request: Request, _: None, provider: str | None = None) -> dict[str, Any]:
    status.resume(request.workspace, provider)
    return _queue_status(request)


@resolves("Query.deadLetters", "listDeadLetters", 10)
def list_dead_letters(request: Request, _: None, limit: int, provider: str | None = None) -> Page[Loaded]:
    checked = check_text(provider, "provider")
    page = dead_letters.list_dead_letters(request.workspace, checked, check_limit(limit), None)
    return page.map(lambda each: Loaded(DeadLetterResponse.of(each)))


@resolves("Mutation.redriveDeadLetters", "redriveDeadLetters", 20)
def redrive_dead_letters(
    request: Request, _: None, provider: str | None = None, message_ids: list[str] | None = None
) -> Loaded:
    wanted = parse(RedriveDeadLetters, without_null({"provider": provider, "messageIds": message_ids}), "")
    found = dead_letters.redrive(request.workspace, wanted.provider, wanted.message_ids)
    return Loaded(RedriveResultResponse.of(found))
