from typing import Any

from cupel_core.accounts import keys as accounts
from cupel_core.contract.providers import ModelResponse
from cupel_core.contract.queues import (
    ProviderQueueResponse,
)
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.workspace.queues import status


@resolves("Query.me", "getSession")
async def me(request: Request, _: None) -> dict[str, Any]:
    return {"workspace": request.workspace, "role": request.caller.role, "tokenId": request.caller.token_id}


@resolves("Query.models", "listModels", 50)
def models(request: Request, _: None, *, usable_only: bool, provider: str | None = None) -> list[Loaded]:
    listed = [Loaded(ModelResponse.from_value(view)) for view in accounts.list_models(request.workspace, provider)]
    return [each for each in listed if each["usable"] or not usable_only]


@resolves("Query.queueStatus", "listQueues", 20)
def queue_status(request: Request, _: None) -> dict[str, Any]:
    return _queue_status(request)


def _queue_status(request: Request) -> dict[str, Any]:
    queues = [Loaded(ProviderQueueResponse.from_value(each)) for each in status.list_queues(request.workspace)]
    is_paused = any(each["paused"] for each in queues)
    return {
        "isRunning": not is_paused,
        "isPaused": is_paused,
        "pending": sum(each["pending"] for each in queues),
        "deadLetters": sum(each["deadLetters"] for each in queues),
        "providers": queues,
    }


@resolves("Mutation.pauseQueue", "pauseQueues", 20)
def pause_queue(request: Request, _: None, provider: str | None = None) -> dict[str, Any]:
    status.pause(request.workspace, provider)
    return _queue_status(request)


@resolves("Mutation.resumeQueue", "resumeQueues", 20)
def resume_queue(request: Request, _: None, provider: str | None = None) -> dict[str, Any]:
    status.resume(request.workspace, provider)
    return _queue_status(request)
