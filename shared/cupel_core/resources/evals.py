from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from cupel_core.base.errors import Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.resources.evals import Eval, EvalFields, EvalSpec
from cupel_core.resources.grader_models import grader_config_errors
from cupel_core.resources.references import resolve_definition_id, target_errors
from cupel_core.store import resources
from cupel_core.store.resources import Resource, ResourceKind


def create(workspace: str, spec: EvalSpec, now: datetime) -> Eval:
    """Create an eval. Raise Invalid, naming each invalid reference, and Conflict if another one has this name."""
    requested = Eval(
        id=new_id("evl"),
        name=spec.name,
        definition_id="",
        scenario_ids=spec.scenario_ids,
        created_at=now,
        updated_at=now,
        targets=spec.targets,
        params=spec.params,
        grader_config=spec.grader_config,
    )
    _check_targets(workspace, requested)
    definition_id = resolve_definition_id(workspace, spec.definition_id, spec.scenario_ids)
    created = replace(requested, definition_id=definition_id)
    resources.create(workspace, _resource(created))
    return created


def get(workspace: str, eval_id: str) -> Eval:
    """Return the eval. Its references may have been deleted since. Raise NotFound for an unknown or deleted eval."""
    return _eval(resources.get(workspace, ResourceKind.EVAL, eval_id))


def get_many(workspace: str, eval_ids: Iterable[str]) -> dict[str, Eval]:
    stored = resources.get_many(workspace, ResourceKind.EVAL, eval_ids)
    return {eval_id: _eval(resource) for eval_id, resource in stored.items()}


def list_evals(workspace: str, limit: int, cursor: str | None) -> Page[Eval]:
    return resources.list_resources(workspace, ResourceKind.EVAL, limit, cursor).map(_eval)


def update(
    workspace: str, eval_id: str, fields: EvalFields, now: datetime, precondition: Precondition = UNCONDITIONAL
) -> Eval:
    """Update an eval. Only updated fields are validated. Raise Conflict for a concurrent change or a name in use."""
    stored = resources.get(workspace, ResourceKind.EVAL, eval_id)
    precondition.check(etag(stored.revision))
    before = _eval(stored)
    after = replace(
        before,
        name=fields.get("name", before.name),
        targets=fields.get("targets", before.targets),
        params=fields.get("params", before.params),
        grader_config=replace(before.grader_config, **fields.get("grader_config", {})),
        updated_at=now,
    )
    if fields.keys() & {"targets", "params", "grader_config"}:
        _check_targets(workspace, after)
    if "scenario_ids" in fields or "definition_id" in fields:
        after = _with_scenarios(workspace, after, fields)
    with precondition.guard_write():
        changed = replace(stored, name=after.name, body=after.to_json(), updated_at=now)
        return _eval(resources.update(workspace, stored, changed))


def delete(workspace: str, eval_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL) -> None:
    """Hide the eval. Its runs stay."""
    before = resources.get(workspace, ResourceKind.EVAL, eval_id)
    precondition.check(etag(before.revision))
    with precondition.guard_write():
        resources.delete(workspace, before, now)


def _with_scenarios(workspace: str, before: Eval, fields: EvalFields) -> Eval:
    """Return the eval with other scenarios, which without a definition may belong to another definition than before."""
    scenario_ids = tuple(fields.get("scenario_ids", before.scenario_ids))
    definition_id = resolve_definition_id(workspace, fields.get("definition_id"), scenario_ids)
    return replace(before, scenario_ids=scenario_ids, definition_id=definition_id)


def _check_targets(workspace: str, requested: Eval) -> None:
    errors = [*target_errors(workspace, requested), *grader_config_errors(requested.grader_config)]
    if errors:
        raise Invalid.fields(errors)


def _resource(item: Eval) -> Resource:
    return Resource(ResourceKind.EVAL, item.id, item.name, item.to_json(), item.created_at, item.updated_at)


def _eval(resource: Resource) -> Eval:
    stored = Eval.from_json(resource.id, resource.name, resource.created_at, resource.updated_at, resource.body)
    return replace(stored, revision=resource.revision)
