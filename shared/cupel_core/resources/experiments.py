"""Experiments as resources of a workspace: their names are unique, and deleting one leaves its runs."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from cupel_core.base.errors import Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.analysis.experiments import Conclusion, Experiment, ExperimentDesign
from cupel_core.domain.codec import decode, encode
from cupel_core.store import resources, runs
from cupel_core.store.resources import Resource, ResourceKind

_KIND = ResourceKind.EXPERIMENT


def create(workspace: str, name: str, design: ExperimentDesign, now: datetime) -> Experiment:
    """Create an experiment. Raise Invalid for an unknown baseline or impossible effect, and Conflict for a name in
    use."""
    _check_effect(design)
    _check_baseline(workspace, design)
    experiment = new_experiment(name, design, now)
    resources.create(workspace, to_resource(experiment))
    return experiment


def new_experiment(name: str, design: ExperimentDesign, now: datetime) -> Experiment:
    return Experiment(new_id("exp"), name, design, now, now)


def get(workspace: str, experiment_id: str) -> Experiment:
    """Return the experiment. Raise NotFound for an unknown or deleted one."""
    return _experiment(resources.get(workspace, _KIND, experiment_id))


def get_many(workspace: str, experiment_ids: Iterable[str]) -> dict[str, Experiment]:
    found = resources.get_many(workspace, _KIND, experiment_ids)
    return {experiment_id: _experiment(resource) for experiment_id, resource in found.items()}


def list_experiments(workspace: str, limit: int, cursor: str | None) -> Page[Experiment]:
    return resources.list_resources(workspace, _KIND, limit, cursor).map(_experiment)


def update(
    workspace: str,
    experiment_id: str,
    fields: dict[str, Any],
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> Experiment:
    """Update the design, `name`, `conclusion` and `note` by `fields`. Raise Conflict for a concurrent change."""
    stored = resources.get(workspace, _KIND, experiment_id)
    precondition.check(etag(stored.revision))
    before = _experiment(stored)
    own = {name: fields.pop(name) for name in ("name", "conclusion", "note") if name in fields}
    after = replace(before, **own, design=replace(before.design, **fields), updated_at=now)
    if not fields.keys().isdisjoint(("metric", "minimum_effect")):
        _check_effect(after.design)
    if "baseline_run_id" in fields:
        _check_baseline(workspace, after.design)
    with precondition.guard_write():
        changed = replace(stored, name=after.name, body=_body(after), updated_at=now)
        return _experiment(resources.update(workspace, stored, changed))


def delete(workspace: str, experiment_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL) -> None:
    """Hide the experiment. Its runs stay."""
    before = resources.get(workspace, _KIND, experiment_id)
    precondition.check(etag(before.revision))
    with precondition.guard_write():
        resources.delete(workspace, before, now)


def _check_effect(design: ExperimentDesign) -> None:
    if issue := design.options.margin_issue:
        raise Invalid.field("minimumEffect", issue)


def _check_baseline(workspace: str, design: ExperimentDesign) -> None:
    run_id = design.baseline_run_id
    if run_id is not None and runs.find(RunRef(workspace, run_id)) is None:
        raise Invalid.field("baselineRunId", f"there is no run {run_id}")


def _body(experiment: Experiment) -> dict[str, Any]:
    return {"design": encode(experiment.design), "conclusion": experiment.conclusion, "note": experiment.note}


def to_resource(experiment: Experiment) -> Resource:
    return Resource(
        _KIND, experiment.id, experiment.name, _body(experiment), experiment.created_at, experiment.updated_at
    )


def _experiment(resource: Resource) -> Experiment:
    conclusion = resource.body["conclusion"]
    return Experiment(
        id=resource.id,
        name=resource.name,
        design=decode(ExperimentDesign, resource.body["design"]),
        created_at=resource.created_at,
        updated_at=resource.updated_at,
        conclusion=Conclusion(conclusion) if conclusion else None,
        note=resource.body["note"],
        revision=resource.revision,
    )
