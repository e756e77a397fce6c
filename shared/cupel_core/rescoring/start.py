"""Asking for another scoring of a run: everything is checked before anything is written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from cupel_core.accounts import model_error
from cupel_core.definitions.assertions import errors_of
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.rescores import RESCORABLE, Rescoring, RescoringConfig
from cupel_core.domain.turns.conversation import Criteria
from cupel_core.errors import Conflict, FieldError, Invalid
from cupel_core.ids import new_id
from cupel_core.messages import RunRef
from cupel_core.store import barrier, executions, rescores, runs, starts
from cupel_core.store.barrier import Tree
from cupel_core.store.starts import Stand


@dataclass(frozen=True)
class RescoringSpec:
    """What a person or a program asks for; assertions as they are written."""

    assertions: Sequence[Mapping[str, Any]] | None = None
    judge_model: str | None = None
    embedding_model: str | None = None
    evaluator_url: str | None = None
    criteria: Criteria | None = None

    def config(self) -> RescoringConfig:
        return RescoringConfig(
            assertions=None if self.assertions is None else tuple(map(Assertion.from_json, self.assertions)),
            judge_model=self.judge_model,
            embedding_model=self.embedding_model,
            evaluator_url=self.evaluator_url,
            criteria=self.criteria,
        )


def start(workspace: str, run_id: str, spec: RescoringSpec, idempotency_key: str | None, now: datetime) -> Rescoring:
    """Writes the scoring and has it carried out.

    Raises Conflict for a run that goes on, or in which nobody has answered; Invalid for a spec that cannot be carried
    out, and for a key that was used with another.
    """
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    _check(workspace, run, spec)
    rescoring = _rescoring(run, spec, now)
    body = orjson.dumps([run_id, rescoring.config.to_json()], option=orjson.OPT_SORT_KEYS).decode()
    if idempotency_key is None:
        rescores.create(rescoring)
    elif answered := _answered(workspace, idempotency_key, body, now):
        return rescores.get(ref, answered)
    else:
        _create_once(rescoring, idempotency_key, body, now)
    executions.begin_scoring(ref, rescoring.id)
    return rescoring


def _create_once(rescoring: Rescoring, key: str, body: str, now: datetime) -> None:
    reservation = starts.reserve(rescoring.workspace, key, body, rescoring.id, now)
    if reservation is None:
        raise _in_flight()
    rescores.create(rescoring, reservation)


def _answered(workspace: str, key: str, body: str, now: datetime) -> str | None:
    """The scoring that this key has made; None when the key is free."""
    stand, held = starts.stand(workspace, key, body, now)
    if stand is Stand.IN_FLIGHT:
        raise _in_flight()
    if stand is Stand.OTHER_BODY:
        raise Invalid.field("Idempotency-Key", "was used with another request; use a new key for a new scoring")
    return held.run_id if stand is Stand.ANSWERED and held else None


def _in_flight() -> Conflict:
    return Conflict("a request with this Idempotency-Key is being answered; ask again in a few seconds")


def _rescoring(run: Run, spec: RescoringSpec, now: datetime) -> Rescoring:
    completed = (run.settled or barrier.progress(Tree.of(run))).completed
    if not completed:
        raise Conflict("this run has no transcripts to score")
    return Rescoring(
        workspace=run.workspace,
        run_id=run.id,
        id=new_id("scr"),
        config=spec.config(),
        total=completed,
        probes=run.plan.total,
        generation=run.generation,
        created_at=now,
    )


def _check(workspace: str, run: Run, spec: RescoringSpec) -> None:
    errors = [*_assertion_errors(spec), *_model_errors(workspace, spec), *_judge_errors(run, spec)]
    if errors:
        raise Invalid("; ".join(f"{error.field}: {error.message}" for error in errors[:5]), tuple(errors))
    if run.status not in RESCORABLE:
        raise Conflict(f"a run that is {run.status} is not scored anew: its targets are still answering")


def _assertion_errors(spec: RescoringSpec) -> tuple[FieldError, ...]:
    return errors_of(spec.assertions, "assertions") if spec.assertions else ()


def _model_errors(workspace: str, spec: RescoringSpec) -> Iterator[FieldError]:
    for field, model in (("judgeModel", spec.judge_model), ("embeddingModel", spec.embedding_model)):
        if model is not None and (wrong := model_error(workspace, model)):
            yield FieldError(field, wrong)


def _judge_errors(run: Run, spec: RescoringSpec) -> Iterator[FieldError]:
    if spec.criteria is not None and not (spec.judge_model or run.evaluation.judge_model):
        yield FieldError("judgeModel", "is needed to judge by criteria: the run has none")
