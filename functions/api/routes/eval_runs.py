"""Runs of evals, and the playground: one scenario, one target, tried out."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from pydantic import Field, model_validator

from api.caller import caller
from api.routes.runs import IdempotencyKey
from cupel_core.clock import utc_now
from cupel_core.contract.common import Request
from cupel_core.contract.runs import ConfigRequest, RunAnswer, StartedAnswer
from cupel_core.domain.runs.run import Priority, Progress
from cupel_core.runs import queries, start
from cupel_core.runs.eval_runs import Options, Trial, spec_of_eval, spec_of_trial
from cupel_core.runs.spec import RunSpec

router = APIGatewayHttpRouter()

Id = Annotated[str, Field(min_length=1, max_length=64)]


class OptionsRequest(Request):
    priority: Priority = Priority.NORMAL
    repeats: Annotated[int, Field(strict=True, ge=1, le=100)] = 1
    experiment_id: Id | None = None
    config: ConfigRequest = ConfigRequest()

    def options(self) -> Options:
        config = self.config
        return Options(
            priority=self.priority,
            repeats=self.repeats,
            experiment_id=self.experiment_id,
            temperature=config.temperature,
            max_turns=config.max_turns,
            evaluation=config.evaluation(),
        )


class TrialRequest(OptionsRequest):
    """Exactly one of `connectorId` and `model`."""

    scenario_id: Id
    connector_id: Id | None = None
    model: Annotated[str, Field(min_length=3, max_length=256, description="provider/name")] | None = None
    persona_id: Annotated[Id | None, Field(description="Nobody in particular speaks when left out")] = None
    definition_id: Annotated[Id | None, Field(description="Needed where a fork shares the scenario's id")] = None

    @model_validator(mode="after")
    def _has_one_target(self) -> "TrialRequest":
        if (self.connector_id is None) == (self.model is None):
            raise ValueError("must have a connectorId or a model, one of the two")
        return self

    def trial(self) -> Trial:
        return Trial(self.scenario_id, self.connector_id, self.model, self.persona_id, self.definition_id)


@router.post("/evals/<eval_id>/runs", summary="Start a run of an eval", tags=["evals"], status_code=201)
def run_eval(
    eval_id: str, body: Annotated[OptionsRequest | None, Body()] = None, idempotency_key: IdempotencyKey = None
) -> StartedAnswer:
    workspace = caller(router.current_event).workspace
    return _start(workspace, spec_of_eval(workspace, eval_id, (body or OptionsRequest()).options()), idempotency_key)


@router.post("/playground/runs", summary="Try one scenario with one target", tags=["evals"], status_code=201)
def try_out(body: TrialRequest, idempotency_key: IdempotencyKey = None) -> StartedAnswer:
    workspace = caller(router.current_event).workspace
    return _start(workspace, spec_of_trial(workspace, body.trial(), body.options()), idempotency_key)


def _start(workspace: str, spec: RunSpec, idempotency_key: str | None) -> StartedAnswer:
    started = start.start(workspace, spec, idempotency_key, utc_now())
    view = queries.RunView(started.run, Progress(started.job_count), None, None)
    return StartedAnswer(run=RunAnswer.of(view), job_count=started.job_count)
