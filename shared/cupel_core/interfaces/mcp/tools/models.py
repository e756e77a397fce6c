"""Lists the models that can be used; the API also lists those without a key."""

from typing import Annotated

from pydantic import Field

from cupel_core.accounts import keys as accounts
from cupel_core.contract.providers import ModelResponse
from cupel_core.interfaces.mcp.models import (
    ListArguments,
    ListResult,
    ResultModel,
)
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.results import indexed_entries, list_result

ProviderName = Annotated[str, Field(strict=True, min_length=1, max_length=100)]


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
    is_default=True,
    description="Models that runs can have as targets or judges, with prices. Those of `sim/` are simulated and free.",
    max_kb=4,
)
def list_models(request: ToolRequest, arguments: ListModels) -> ListResult[ModelBrief]:
    listed = accounts.list_models(request.workspace, arguments.provider)
    found = [ModelBrief.model_validate(ModelResponse.from_value(each)) for each in listed]
    chosen = [each for each in found if each.usable or not arguments.available_only]
    entries = indexed_entries(chosen, arguments.cursor)
    return list_result(request, ListResult[ModelBrief], entries, arguments.limit, lambda each: each)
