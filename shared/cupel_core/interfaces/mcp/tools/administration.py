"""Changes what the workspace has configured."""

from typing import Annotated

from pydantic import Field

from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.contract.evals import SettingsResponse, UpdateSettings
from cupel_core.contract.providers import ProviderResponse, UpdateProvider
from cupel_core.contract.queues import ProviderQueueResponse, RedriveDeadLetters, RedriveResultResponse
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.bodies import body_of
from cupel_core.interfaces.mcp.models import Arguments, ResultModel, ToolResult
from cupel_core.interfaces.mcp.registry import ToolEffect, ToolGroup, tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.resources import evaluation_settings
from cupel_core.runs import repairs
from cupel_core.workspace.queues import dead_letters, status

ProviderName = Annotated[str, Field(strict=True, min_length=1, max_length=50)]
ModelName = Annotated[str, Field(strict=True, min_length=3, max_length=256)]
PerMinute = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000)]


class UpdateProviderArguments(Arguments):
    provider: ProviderName
    enabled: Annotated[bool | None, Field(strict=True)] = None
    max_parallel_requests: Annotated[int | None, Field(strict=True, ge=1, le=1_000)] = None
    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None


class ProviderLimits(ToolResult):
    name: str
    enabled: bool
    has_key: bool
    max_parallel_requests: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@tool(
    "updateProvider",
    title="Set limits of a provider",
    description="Changes the limits that are given. Keys and addresses are set by `cupel providers set` only.",
    max_kb=1,
    group=ToolGroup.ADMIN,
    effect=ToolEffect.OVERWRITE,
)
def update_provider(request: ToolRequest, arguments: UpdateProviderArguments) -> ProviderLimits:
    changes = parse(UpdateProvider, body_of(arguments, without=("provider",)), "").changes()
    view = repairs.update_provider(request.workspace, arguments.provider, changes, request.now, UNCONDITIONAL)
    return ProviderLimits.model_validate(ProviderResponse.of(view))


class UpdateSettingsArguments(Arguments):
    judge_model: ModelName | None = None
    persona_model: ModelName | None = None
    embedding_model: ModelName | None = None
    analysis_model: ModelName | None = None
    summarizer_model: Annotated[ModelName | None, Field(description="Writes the summaries of reports")] = None


class DefaultModels(ToolResult):
    judge_model: str | None = None
    persona_model: str | None = None
    embedding_model: str | None = None
    analysis_model: str | None = None
    summarizer_model: str | None = None


@tool(
    "updateSettings",
    title="Set default models",
    description="Changes the workspace's default models that are given: to judge, play users, analyze, summarize.",
    max_kb=1,
    group=ToolGroup.ADMIN,
    effect=ToolEffect.OVERWRITE,
)
def update_settings(request: ToolRequest, arguments: UpdateSettingsArguments) -> DefaultModels:
    changes = parse(UpdateSettings, body_of(arguments), "").changes()
    changed = evaluation_settings.update_settings(request.workspace, changes, UNCONDITIONAL)
    return DefaultModels.model_validate(SettingsResponse.of(changed))


class QueueArguments(Arguments):
    provider: Annotated[ProviderName | None, Field(description="Of all providers if omitted")] = None


class PausedQueueBrief(ResultModel):
    provider: str
    paused: bool


class PausedQueues(ToolResult):
    queues: list[PausedQueueBrief]


def _queues(request: ToolRequest, provider: str | None) -> PausedQueues:
    listed = status.list_queues(request.workspace, provider)
    return PausedQueues(queues=[PausedQueueBrief.model_validate(ProviderQueueResponse.of(each)) for each in listed])


@tool(
    "pauseQueues",
    title="Pause the queue of a provider",
    description=(
        "No new call of the provider's models starts in the workspace, whatever the run; of no provider's models if"
        " `provider` is omitted. resume_queue ends it."
    ),
    max_kb=2,
    group=ToolGroup.ADMIN,
    effect=ToolEffect.UPDATE,
)
def pause_queue(request: ToolRequest, arguments: QueueArguments) -> PausedQueues:
    status.pause(request.workspace, arguments.provider)
    return _queues(request, arguments.provider)


@tool(
    "resumeQueues",
    title="Resume the queue of a provider",
    description="Ends what pause_queue began.",
    max_kb=2,
    group=ToolGroup.ADMIN,
    effect=ToolEffect.UPDATE,
    calls_models=True,
)
def resume_queue(request: ToolRequest, arguments: QueueArguments) -> PausedQueues:
    status.resume(request.workspace, arguments.provider)
    return _queues(request, arguments.provider)


class RedriveArguments(QueueArguments):
    message_ids: Annotated[
        list[Annotated[str, Field(strict=True, min_length=1, max_length=100)]] | None,
        Field(max_length=200, description="All dead letters if omitted"),
    ] = None


class RedriveResultBrief(ToolResult):
    sent: int
    dropped: int
    runs_to_retry: Annotated[list[str], Field(description="Retry their errored probes with retry_run")]
    unknown_message_ids: list[str]


@tool(
    "redriveDeadLetters",
    title="Redrive dead letters",
    description="Sends dead letters again, if there is still something to do for them.",
    max_kb=2,
    group=ToolGroup.ADMIN,
    effect=ToolEffect.UPDATE,
    calls_models=True,
)
def redrive_dead_letters(request: ToolRequest, arguments: RedriveArguments) -> RedriveResultBrief:
    wanted = parse(RedriveDeadLetters, body_of(arguments), "")
    found = dead_letters.redrive(request.workspace, wanted.provider, wanted.message_ids)
    return RedriveResultBrief.model_validate(RedriveResultResponse.of(found))
