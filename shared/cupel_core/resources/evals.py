"""Evals: scenarios of one definition and a target, kept under a name to be run again and again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypedDict

from cupel_core.domain.resources.evals import Eval
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.ids import new_id
from cupel_core.paging import Page
from cupel_core.resources.references import definition_of, evaluation_errors, refusal, target_errors
from cupel_core.store import resources
from cupel_core.store.resources import Kind, Resource


@dataclass(frozen=True)
class EvalSpec:
    """What is asked for. `definition_id` is needed only for a fork, which shares scenario ids with its parent."""

    name: str
    scenario_ids: tuple[str, ...]
    connector_id: str | None = None
    model: str | None = None
    definition_id: str | None = None
    evaluation: Evaluation = field(default_factory=Evaluation)


class EvalFields(TypedDict, total=False):
    """What is to be changed; what is left out stays. A connector replaces a model, and a model a connector."""

    name: str
    scenario_ids: Sequence[str]
    definition_id: str | None
    connector_id: str | None
    model: str | None
    evaluation: Mapping[str, str | None]
    """Fields of `Evaluation`."""


def create(workspace: str, spec: EvalSpec, now: datetime) -> Eval:
    """Invalid names each reference that leads nowhere; Conflict when another eval has this name."""
    wanted = Eval(
        id=new_id("evl"),
        name=spec.name,
        definition_id="",
        scenario_ids=spec.scenario_ids,
        created_at=now,
        updated_at=now,
        connector_id=spec.connector_id,
        model=spec.model,
        evaluation=spec.evaluation,
    )
    _check_target(workspace, wanted)
    made = replace(wanted, definition_id=definition_of(workspace, spec.definition_id, spec.scenario_ids))
    resources.create(workspace, _resource(made))
    return made


def get(workspace: str, eval_id: str) -> Eval:
    """NotFound when there is none, or it is deleted. What it names may be gone since."""
    return _eval(resources.get(workspace, Kind.EVAL, eval_id))


def listed(workspace: str, limit: int, cursor: str | None) -> Page[Eval]:
    """Newest first."""
    page = resources.listed(workspace, Kind.EVAL, limit, cursor)
    return Page(tuple(map(_eval, page.items)), page.next_cursor)


def change(workspace: str, eval_id: str, fields: EvalFields, now: datetime) -> Eval:
    """Only what is given is checked. Conflict when it was changed at the same time, or another has the new name."""
    stored = resources.get(workspace, Kind.EVAL, eval_id)
    before = _retargeted(_eval(stored), fields)
    evaluation = replace(before.evaluation, **fields.get("evaluation", {}))
    after = replace(before, name=fields.get("name", before.name), updated_at=now, evaluation=evaluation)
    if "connector_id" in fields or "model" in fields or "evaluation" in fields:
        _check_target(workspace, after)
    if "scenario_ids" in fields or "definition_id" in fields:
        after = _with_scenarios(workspace, after, fields)
    resources.change(workspace, stored, replace(stored, name=after.name, body=after.to_json(), updated_at=now))
    return after


def delete(workspace: str, eval_id: str, now: datetime) -> None:
    """Hides it; its runs stay."""
    resources.delete(workspace, Kind.EVAL, eval_id, now)


def _retargeted(wanted: Eval, fields: EvalFields) -> Eval:
    connector_id = fields.get("connector_id", None if fields.get("model") else wanted.connector_id)
    model = fields.get("model", None if fields.get("connector_id") else wanted.model)
    return replace(wanted, connector_id=connector_id, model=model)


def _with_scenarios(workspace: str, wanted: Eval, fields: EvalFields) -> Eval:
    """Scenarios that are given without a definition may be of another one than before."""
    scenario_ids = tuple(fields.get("scenario_ids", wanted.scenario_ids))
    definition_id = definition_of(workspace, fields.get("definition_id"), scenario_ids)
    return replace(wanted, scenario_ids=scenario_ids, definition_id=definition_id)


def _check_target(workspace: str, wanted: Eval) -> None:
    errors = [*target_errors(workspace, wanted), *evaluation_errors(wanted.evaluation)]
    if errors:
        raise refusal(errors)


def _resource(made: Eval) -> Resource:
    return Resource(Kind.EVAL, made.id, made.name, made.to_json(), made.created_at, made.updated_at)


def _eval(resource: Resource) -> Eval:
    return Eval.from_json(resource.id, resource.name, resource.created_at, resource.updated_at, resource.body)
