"""Scale runs: conversations with one system prompt that the call itself describes, to try a prompt."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.scale_runs import CreateScaleRun
from cupel_core.domain.runs.scale_runs import ScaleRun
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.models import CreatingArguments, Id, Text
from cupel_core.interfaces.mcp.registry import ToolEffect, ToolGroup, tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.tools.run_control import (
    BudgetUsd,
    ModelName,
    StartedRun,
    Tag,
    TargetsArguments,
    Usd,
    check_agreement,
    started,
)
from cupel_core.runs import estimate_requests as estimation
from cupel_core.runs import scaling, start
from cupel_core.runs.budgets import BudgetedEstimate
from cupel_core.runs.starters import started_by

LongText = Annotated[str, Field(strict=True, min_length=1, max_length=200_000)]


class StartScaleRunArguments(TargetsArguments, CreatingArguments):
    system_prompt: LongText | None = None
    user_message: Annotated[
        LongText | None, Field(description="The first message; the simulated user begins if omitted")
    ] = None
    goal: Annotated[
        LongText | None, Field(description="When a conversation succeeds, and what the simulated user wants")
    ] = None
    count: Annotated[int, Field(strict=True, ge=1, le=1_000, description="Conversations per target")] = 1
    max_turns: Annotated[int | None, Field(strict=True, ge=1, le=100, description="1 for a single answer")] = None
    temperature: Annotated[float | None, Field(strict=True, ge=0, le=2)] = None
    max_output_tokens: Annotated[int | None, Field(strict=True, ge=1, le=1_000_000)] = None
    judge_model: ModelName | None = None
    persona_model: Annotated[ModelName | None, Field(description="Simulates the user after the first message")] = None
    evaluators: Annotated[
        dict[str, Any] | None,
        Field(
            max_length=5,
            description="{goal, refusal, format, toxicity}: false switches one off; goal and toxicity call the judge",
        ),
    ] = None
    max_budget_usd: Annotated[BudgetUsd | None, Field(description="The run is paused when this is used up")] = None
    confirmed_usd: Annotated[Usd | None, Field(description="The cost that the user agreed to, when asked")] = None
    allow_unpriced: Annotated[
        bool, Field(strict=True, description="The user agreed to models whose price is unknown, which no budget limits")
    ] = False
    name: Text | None = None
    tags: Annotated[list[Tag] | None, Field(max_length=50)] = None
    experiment_id: Id | None = None
    report: Annotated[bool, Field(strict=True, description="Make a report when it ends: see get_report")] = False
    summarizer_model: Annotated[ModelName | None, Field(description="Writes the report's summary")] = None


def _estimate(request: ToolRequest, scale_run: ScaleRun) -> BudgetedEstimate:
    return estimation.estimate_scale_run(request.workspace, replace(scale_run, allow_unpriced=True), request.now)


@tool(
    "createScaleRun",
    title="Start a scale run",
    description=(
        "Starts a run of conversations that the call itself describes, without a definition. To try a prompt, send"
        " `models`, `system_prompt`, `user_message` and `max_turns` 1; get_run_results and get_transcript have the"
        " answers. This calls models: unless it is free, it needs max_budget_usd, or confirmed_usd; ask the user first."
    ),
    max_kb=2,
    group=ToolGroup.RUNS,
    effect=ToolEffect.CREATE,
    calls_models=True,
)
def start_scale_run(request: ToolRequest, arguments: StartScaleRunArguments) -> StartedRun:
    body = arguments.body(without=("idempotency_key",))
    body |= {"count": arguments.count, "report": arguments.report}
    wanted, key = parse(CreateScaleRun, body, ""), arguments.idempotency_key
    described, scale_run = f"createScaleRun\n{wanted.model_dump_json(exclude_unset=True)}", wanted.scale_run()
    if key is None or start.find_started(request.workspace, key, described, request.now) is None:
        check_agreement(scale_run, lambda: _estimate(request, scale_run).estimate)
    caller = started_by(request.caller)
    return started(scaling.start_scale_run(request.workspace, scale_run, described, key, request.now, caller))
