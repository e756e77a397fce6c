"""Pauses queues. The API pauses all of them if no provider is named, which a model requests too easily."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.operation import ToolGroup
from cupel_core.contract.queues import ProviderQueueResponse
from cupel_core.interfaces.mcp.models import Arguments, ResultModel, ToolResult
from cupel_core.interfaces.mcp.registry import ToolEffect, tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.workspace.queues import status

_ALL = "all"
ProviderName = Annotated[str, Field(strict=True, min_length=1, max_length=50)]


class QueueArguments(Arguments):
    provider: Annotated[ProviderName, Field(description=f"Its name, or `{_ALL}` for the queues of all providers")]


class PausedQueueBrief(ResultModel):
    provider: str
    paused: bool


class PausedQueues(ToolResult):
    queues: list[PausedQueueBrief]


def _queues(request: ToolRequest, provider: str | None) -> PausedQueues:
    listed = status.list_queues(request.workspace, provider)
    return PausedQueues(
        queues=[PausedQueueBrief.model_validate(ProviderQueueResponse.from_value(each)) for each in listed]
    )


@tool(
    "pauseQueues",
    title="Pause the queue of a provider",
    description=(
        "No new call of the provider's models starts in the workspace, whatever the run; with `all`, of no provider's"
        " models. resume_queue ends it."
    ),
    max_kb=2,
    group=ToolGroup.ADMIN,
    effect=ToolEffect.UPDATE,
)
def pause_queue(request: ToolRequest, arguments: QueueArguments) -> PausedQueues:
    provider = None if arguments.provider == _ALL else arguments.provider
    status.pause(request.workspace, provider)
    return _queues(request, provider)
