"""Experiments: runs under one hypothesis, compared with a baseline."""

from aws_lambda_powertools.event_handler import Response

from api.pages import bounded_page
from api.parameters import Cursor, IfMatch, Limit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.analysis import experiments as analysis
from cupel_core.analysis.responses import experiment_summary
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.experiments import (
    CreateExperiment,
    ExperimentPage,
    ExperimentResponse,
    ExperimentSummaryResponse,
    UpdateExperiment,
)
from cupel_core.domain.analysis.experiments import Experiment
from cupel_core.resources import experiments

router = OperationRouter()


@router.operation("createExperiment", status=201)
def create_experiment(body: CreateExperiment) -> ExperimentResponse:
    return _tagged(experiments.create(router.workspace, body.name, body.design(), utc_now()))


@router.operation("listExperiments")
def list_experiments(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[ExperimentPage]:
    listed = experiments.list_experiments(router.workspace, limit, cursor)
    return bounded_page(ExperimentPage, listed.entries(), limit, _response)


@router.operation("getExperiment")
def get_experiment(experiment_id: str) -> ExperimentResponse:
    return _tagged(experiments.get(router.workspace, experiment_id))


@router.operation("updateExperiment")
def update_experiment(experiment_id: str, body: UpdateExperiment, if_match: IfMatch = None) -> ExperimentResponse:
    precondition = Precondition.parse(if_match)
    return _tagged(analysis.update(router.workspace, experiment_id, body.fields(), utc_now(), precondition))


@router.operation("deleteExperiment", status=204)
def delete_experiment(experiment_id: str, if_match: IfMatch = None) -> Response[None]:
    experiments.delete(router.workspace, experiment_id, utc_now(), Precondition.parse(if_match))
    return Response(204)


@router.operation("addExperimentRun", status=204)
def add_experiment_run(experiment_id: str, run_id: str) -> Response[None]:
    analysis.add_run(router.workspace, experiment_id, run_id, utc_now())
    return Response(204)


@router.operation("removeExperimentRun", status=204)
def remove_experiment_run(experiment_id: str, run_id: str) -> Response[None]:
    analysis.remove_run(router.workspace, experiment_id, run_id, utc_now())
    return Response(204)


@router.operation("getExperimentSummary")
def get_experiment_summary(experiment_id: str) -> ExperimentSummaryResponse:
    return experiment_summary(analysis.summary(router.workspace, experiment_id, utc_now()))


def _response(experiment: Experiment) -> ExperimentResponse:
    return ExperimentResponse.of(experiment, has_runs=analysis.has_runs(router.workspace, experiment.id))


def _tagged(stored: Experiment) -> ExperimentResponse:
    return router.tagged(_response(stored), etag(stored.revision))
