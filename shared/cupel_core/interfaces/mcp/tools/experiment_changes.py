"""Writes experiments."""

from typing import Annotated

from pydantic import Field

from cupel_core.analysis import experiments as experiment_analysis
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.contract.experiments import CreateExperiment, ExperimentResponse, UpdateExperiment
from cupel_core.domain.analysis.experiments import Conclusion, ExpectedDirection, Experiment, ExperimentStatus
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.bodies import body_of
from cupel_core.interfaces.mcp.models import Arguments, CreatingArguments, Id, Text, ToolResult
from cupel_core.interfaces.mcp.registry import ToolEffect, ToolGroup, tool
from cupel_core.interfaces.mcp.repeats import once
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.resources import experiments

LongText = Annotated[str, Field(strict=True, min_length=1, max_length=5_000)]
Effect = Annotated[float, Field(strict=True, ge=0, le=4, description="Smaller differences do not matter")]


class ExperimentArguments(Arguments):
    null_hypothesis: LongText | None = None
    description: LongText | None = None
    direction: Annotated[
        ExpectedDirection | None, Field(description="How runs are expected to differ from the baseline")
    ] = None
    metric: Metric | None = None
    minimum_effect: Effect | None = None
    independent_variable: Annotated[Text | None, Field(description="What is varied on purpose")] = None
    baseline_run_id: Annotated[Id | None, Field(description="The run that others are compared with")] = None


class CreateExperimentArguments(ExperimentArguments, CreatingArguments):
    name: Text
    hypothesis: LongText


class ExperimentResult(ToolResult):
    id: str
    name: str
    status: ExperimentStatus
    hypothesis: str
    baseline_run_id: str | None = None
    conclusion: Conclusion | None = None
    note: str | None = None


def _result(workspace: str, found: Experiment) -> ExperimentResult:
    has_runs = experiment_analysis.has_runs(workspace, found.id)
    return ExperimentResult.model_validate(ExperimentResponse.of(found, has_runs=has_runs))


@tool(
    "createExperiment",
    title="Create an experiment",
    description="Groups runs under one hypothesis; each is compared with the baseline run when it ends.",
    max_kb=2,
    group=ToolGroup.ANALYSIS,
    effect=ToolEffect.CREATE,
)
def create_experiment(request: ToolRequest, arguments: CreateExperimentArguments) -> ExperimentResult:
    wanted = parse(CreateExperiment, body_of(arguments, without=("idempotency_key",)), "")
    workspace = request.workspace

    def create() -> ExperimentResult:
        return _result(workspace, experiments.create(workspace, wanted.name, wanted.design(), request.now))

    return once(
        request,
        "createExperiment",
        arguments,
        create,
        lambda made: _result(workspace, experiments.get(workspace, made)),
    )


class UpdateExperimentArguments(ExperimentArguments):
    experiment_id: Id
    name: Text | None = None
    hypothesis: LongText | None = None
    conclusion: Annotated[Conclusion | None, Field(description="Ends the experiment")] = None
    note: Annotated[LongText | None, Field(description="The reason for the conclusion")] = None


@tool(
    "updateExperiment",
    title="Update or conclude an experiment",
    description=(
        "Changes what is given. `conclusion` ends the experiment, and `note` says why: see get_experiment first."
    ),
    max_kb=2,
    group=ToolGroup.ANALYSIS,
    effect=ToolEffect.OVERWRITE,
)
def update_experiment(request: ToolRequest, arguments: UpdateExperimentArguments) -> ExperimentResult:
    fields = parse(UpdateExperiment, body_of(arguments, without=("experiment_id",)), "").fields()
    changed = experiment_analysis.update(request.workspace, arguments.experiment_id, fields, request.now, UNCONDITIONAL)
    return _result(request.workspace, changed)


class ExperimentRunArguments(Arguments):
    experiment_id: Id
    run_id: Id


@tool(
    "addExperimentRun",
    title="Add a run to an experiment",
    description="The run is compared with the experiment's baseline.",
    max_kb=2,
    group=ToolGroup.ANALYSIS,
    effect=ToolEffect.UPDATE,
)
def add_run_to_experiment(request: ToolRequest, arguments: ExperimentRunArguments) -> ExperimentResult:
    experiment_analysis.add_run(request.workspace, arguments.experiment_id, arguments.run_id, request.now)
    return _result(request.workspace, experiments.get(request.workspace, arguments.experiment_id))


@tool(
    "removeExperimentRun",
    title="Remove a run from an experiment",
    description="The run itself is kept.",
    max_kb=2,
    group=ToolGroup.ANALYSIS,
    effect=ToolEffect.OVERWRITE,
)
def remove_run_from_experiment(request: ToolRequest, arguments: ExperimentRunArguments) -> ExperimentResult:
    experiment_analysis.remove_run(request.workspace, arguments.experiment_id, arguments.run_id, request.now)
    return _result(request.workspace, experiments.get(request.workspace, arguments.experiment_id))
