from functools import partial

from cupel_core.analysis import experiments as analysis
from cupel_core.analysis.responses import experiment_summary
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import etag
from cupel_core.contract.experiments import (
    CreateExperiment,
    ExperimentPage,
    ExperimentResponse,
    ExperimentSummaryResponse,
    UpdateExperiment,
)
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, Replay, Tagged, ToolGroup, operation
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.domain.analysis.experiments import Experiment
from cupel_core.resources import experiments


@operation(
    "POST /v1/experiments",
    "Create an experiment",
    role=MEMBER,
    returns="The experiment",
    status=201,
    location="/v1/experiments/{id}",
    replay=Replay.CREATED,
    tool=AsTool(
        ToolGroup.ANALYSIS, "id name status hypothesis direction baselineRunId conclusion note createdAt", max_kb=2
    ),
)
def create_experiment(call: Call, body: CreateExperiment) -> Tagged[ExperimentResponse]:
    return _tagged(call, experiments.create(call.workspace, body.name, body.design(), call.now))


@operation(
    "GET /v1/experiments",
    "List the experiments, newest first",
    role=VIEWER,
    returns="A page of experiments",
    tool=AsTool(
        ToolGroup.READ, "id name status hypothesis direction baselineRunId conclusion note createdAt", max_kb=7
    ),
)
def list_experiments(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[ExperimentPage]:
    listed = experiments.list_experiments(call.workspace, limit, cursor)
    return Listed(listed, partial(_response, call))


@operation("GET /v1/experiments/{experiment_id}", "Get an experiment", role=VIEWER, returns="The experiment")
def get_experiment(call: Call, experiment_id: str) -> Tagged[ExperimentResponse]:
    return _tagged(call, experiments.get(call.workspace, experiment_id))


@operation(
    "PATCH /v1/experiments/{experiment_id}",
    "Update or conclude an experiment",
    role=MEMBER,
    returns="The updated experiment",
    if_match=True,
    tool=AsTool(
        ToolGroup.ANALYSIS, "id name status hypothesis direction baselineRunId conclusion note createdAt", max_kb=2
    ),
)
def update_experiment(call: Call, experiment_id: str, body: UpdateExperiment) -> Tagged[ExperimentResponse]:
    """Another baseline queues the comparisons of all runs with it."""
    return _tagged(call, analysis.update(call.workspace, experiment_id, body.fields(), call.now, call.precondition))


@operation(
    "DELETE /v1/experiments/{experiment_id}",
    "Delete an experiment; keep its runs",
    role=MEMBER,
    returns="Deleted",
    if_match=True,
)
def delete_experiment(call: Call, experiment_id: str) -> None:
    experiments.delete(call.workspace, experiment_id, call.now, call.precondition)


@operation(
    "PUT /v1/experiments/{experiment_id}/runs/{run_id}",
    "Add a run to an experiment",
    role=MEMBER,
    returns="Added",
    tool=AsTool(ToolGroup.ANALYSIS, name="add_run_to_experiment", max_kb=1),
)
def add_experiment_run(call: Call, experiment_id: str, run_id: str) -> None:
    """The run leaves the experiment that it belonged to. If it is over, its comparison with the baseline is queued."""
    analysis.add_run(call.workspace, experiment_id, run_id, call.now)


@operation(
    "DELETE /v1/experiments/{experiment_id}/runs/{run_id}",
    "Remove a run from an experiment; keep the run",
    role=MEMBER,
    returns="Removed",
    tool=AsTool(ToolGroup.ANALYSIS, name="remove_run_from_experiment", max_kb=1),
)
def remove_experiment_run(call: Call, experiment_id: str, run_id: str) -> None:
    analysis.remove_run(call.workspace, experiment_id, run_id, call.now)


@operation(
    "GET /v1/experiments/{experiment_id}/summary",
    "Get how the runs of an experiment differ from its baseline",
    role=VIEWER,
    returns="A row per run and target, with p-values adjusted over all rows",
    tool=AsTool(
        ToolGroup.READ,
        (
            "experiment.id experiment.name experiment.status experiment.hypothesis"
            " experiment.direction experiment.baselineRunId experiment.conclusion runs.runId"
            " runs.name runs.status runs.costUsd rows reasons.runId reasons.reason varied"
            " suggestedConclusion"
        ),
        name="get_experiment",
        max_kb=8,
    ),
)
def get_experiment_summary(call: Call, experiment_id: str) -> ExperimentSummaryResponse:
    return experiment_summary(analysis.summary(call.workspace, experiment_id, call.now))


def _response(call: Call, experiment: Experiment) -> ExperimentResponse:
    return ExperimentResponse.of(experiment, has_runs=analysis.has_runs(call.workspace, experiment.id))


def _tagged(call: Call, stored: Experiment) -> Tagged[ExperimentResponse]:
    return Tagged(_response(call, stored), etag(stored.revision))
