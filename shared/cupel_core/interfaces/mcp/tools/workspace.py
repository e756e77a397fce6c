"""Reads what the workspace has configured: providers, models, queues, settings, budgets, profiles."""

from typing import Annotated

from pydantic import Field

from cupel_core.accounts import keys as accounts
from cupel_core.budgets.workspace_budgets import get_use
from cupel_core.contract.common import Time
from cupel_core.contract.connectors import ConnectorResponse
from cupel_core.contract.evals import SettingsResponse
from cupel_core.contract.profiles import ProfileSummaryResponse
from cupel_core.contract.providers import ModelResponse, ProviderResponse
from cupel_core.contract.queues import DeadLetterResponse, ProviderQueueResponse
from cupel_core.contract.workspace_budgets import BudgetsResponse
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.interfaces.mcp.models import (
    Arguments,
    ListArguments,
    ListResult,
    ResultModel,
    ToolResult,
    UntrustedResult,
)
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.results import indexed_entries, list_result
from cupel_core.resources import connectors, evaluation_settings, profiles
from cupel_core.workspace.queues import dead_letters, status

_MAX_DEAD_LETTERS = 10
ProviderName = Annotated[str, Field(strict=True, min_length=1, max_length=100)]


class ProviderBrief(ResultModel):
    name: str
    usable: Annotated[bool, Field(description="Enabled, with the address and the key it needs")]
    enabled: bool
    needs_key: bool
    has_key: bool
    max_parallel_requests: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@tool(
    "listProviders",
    title="List providers",
    description="Providers of models: whether they are usable, and their limits. Keys are never returned.",
    max_kb=3,
)
def list_providers(request: ToolRequest, arguments: ListArguments) -> ListResult[ProviderBrief]:
    entries = indexed_entries(accounts.list_providers(request.workspace), arguments.cursor)
    return list_result(
        request,
        ListResult[ProviderBrief],
        entries,
        arguments.limit,
        lambda view: ProviderBrief.model_validate(ProviderResponse.of(view)),
    )


class ListModels(ListArguments):
    provider: ProviderName | None = None
    available_only: Annotated[bool, Field(strict=True, description="Only models whose provider is usable")] = True


class ModelBrief(ResultModel):
    id: Annotated[str, Field(description="As used in runs")]
    usable: bool
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    context_length: int | None = None


@tool(
    "listModels",
    title="List models",
    description="Models that runs can have as targets or judges, with prices. Those of `sim/` are simulated and free.",
    max_kb=4,
)
def list_models(request: ToolRequest, arguments: ListModels) -> ListResult[ModelBrief]:
    listed = accounts.list_models(request.workspace, arguments.provider)
    found = [ModelBrief.model_validate(ModelResponse.of(each)) for each in listed]
    chosen = [each for each in found if each.usable or not arguments.available_only]
    entries = indexed_entries(chosen, arguments.cursor)
    return list_result(request, ListResult[ModelBrief], entries, arguments.limit, lambda each: each)


class ConnectorBrief(ResultModel):
    id: Annotated[str, Field(description="As `connector/<id>` among the models of a run")]
    name: str
    type: ConnectorType
    base_url: str


@tool(
    "listConnectors",
    title="List connectors",
    description="Agents under test behind HTTP, which runs can have as targets. Their headers are never returned.",
    max_kb=4,
)
def list_connectors(request: ToolRequest, arguments: ListArguments) -> ListResult[ConnectorBrief]:
    page = connectors.list_connectors(request.workspace, arguments.limit, arguments.cursor)
    return list_result(
        request,
        ListResult[ConnectorBrief],
        page.entries(),
        arguments.limit,
        lambda found: ConnectorBrief.model_validate(ConnectorResponse.of(found)),
    )


class GetQueueStatus(Arguments):
    provider: ProviderName | None = None
    include_dead_letters: Annotated[bool, Field(strict=True)] = False


class SuspendedBrief(ResultModel):
    model: str
    until: Time
    reason: str


class QueueBrief(ResultModel):
    provider: str
    pending: int
    dead_letters: int
    paused: bool
    throttled_until: Time | None = None
    workers: int
    suspended_models: list[SuspendedBrief]


class DeadLetterBrief(ResultModel):
    message_id: str
    provider: str
    run_id: str
    probes: int
    cause: str


class QueueStatusDetail(UntrustedResult):
    is_paused: bool
    pending: Annotated[int, Field(description="Waiting probes")]
    queues: Annotated[
        list[QueueBrief], Field(description="Those that wait, are paused or failing; all for a named provider")
    ]
    dead_letters: Annotated[list[DeadLetterBrief] | None, Field(description="The first ten")] = None


@tool(
    "listQueues",
    title="Get the status of the queues",
    description="Waiting probes per provider, paused and throttled providers, suspended models, dead letters.",
    max_kb=4,
)
def get_queue_status(request: ToolRequest, arguments: GetQueueStatus) -> QueueStatusDetail:
    found = [ProviderQueueResponse.of(each) for each in status.list_queues(request.workspace, arguments.provider)]
    shown = found if arguments.provider else [each for each in found if _is_notable(each)]
    return QueueStatusDetail(
        is_paused=any(each.paused for each in found),
        pending=sum(each.pending for each in found),
        queues=[QueueBrief.model_validate(each) for each in shown],
        dead_letters=_dead_letters(request, arguments.provider) if arguments.include_dead_letters else None,
    )


def _is_notable(queue: ProviderQueueResponse) -> bool:
    return bool(queue.pending or queue.dead_letters or queue.paused or queue.throttled_until or queue.suspended_models)


def _dead_letters(request: ToolRequest, provider: str | None) -> list[DeadLetterBrief]:
    page = dead_letters.list_dead_letters(request.workspace, provider, _MAX_DEAD_LETTERS, None)
    return [
        DeadLetterBrief(
            message_id=each.message_id,
            provider=each.provider,
            run_id=each.run_id,
            probes=len(each.indexes),
            cause=each.cause,
        )
        for each in map(DeadLetterResponse.of, page.items)
    ]


class GetSettings(Arguments):
    include_budgets: Annotated[bool, Field(strict=True)] = True


class PeriodBudgetBrief(ResultModel):
    period: str
    limit_usd: Annotated[float | None, Field(description="Absent without a limit")] = None
    spent_usd: Annotated[float | None, Field(description="Absent while no limit is set: calls are not counted")] = None
    reserved_usd: float | None = None
    available_usd: float | None = None


class SettingsDetail(ToolResult):
    judge_model: str | None = None
    persona_model: str | None = None
    embedding_model: str | None = None
    analysis_model: Annotated[str | None, Field(description="Writes narratives of deep analyses")] = None
    summarizer_model: Annotated[str | None, Field(description="Writes summaries of reports")] = None
    open_runs_per_owner: int
    open_runs: int
    budgets: Annotated[list[PeriodBudgetBrief] | None, Field(description="Of the day and of the month")] = None


@tool(
    "getSettings",
    title="Get settings and budgets",
    description="The workspace's defaults: models that judge, simulate users and narrate; limits of runs; budgets.",
    max_kb=2,
)
def get_settings(request: ToolRequest, arguments: GetSettings) -> SettingsDetail:
    settings = SettingsResponse.of(evaluation_settings.get_settings(request.workspace)).model_dump(by_alias=True)
    settings.pop("budgets")
    if arguments.include_budgets:
        use = BudgetsResponse.of(*get_use(request.workspace, request.now))
        settings["budgets"] = [PeriodBudgetBrief.model_validate(each) for each in (use.day, use.month)]
    return SettingsDetail.model_validate(settings)


class ProfileBrief(ResultModel):
    id: str
    name: str
    description: str | None = None
    version: int
    enabled: bool


@tool(
    "listProfiles",
    title="List operation profiles",
    description="Profiles of operations before and after model calls, which runs and chats can use.",
    max_kb=3,
)
def list_profiles(request: ToolRequest, arguments: ListArguments) -> ListResult[ProfileBrief]:
    page = profiles.list_profiles(request.workspace, arguments.limit, arguments.cursor)
    return list_result(
        request,
        ListResult[ProfileBrief],
        page.entries(),
        arguments.limit,
        lambda head: ProfileBrief.model_validate(ProfileSummaryResponse.of(head)),
    )
