"""The things to which runs belong: a definition, an experiment, a schedule, an eval."""

from collections.abc import Callable, Mapping
from functools import partial

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.store import definitions, resources, schedules
from cupel_core.store.resources import Resource, ResourceKind


def check_owners(workspace: str, owners: Mapping[str, str | None]) -> None:
    """Raise Invalid for ids that the workspace never had. `owners` has the ids by kind."""
    errors = [
        FieldError(f"{kind}Id", f"there is no {kind} {owner_id}")
        for kind, owner_id in owners.items()
        if owner_id is not None and _FINDERS[kind](workspace, owner_id) is None
    ]
    if errors:
        raise Invalid.fields(errors)


def _find_resource(kind: ResourceKind, workspace: str, resource_id: str) -> Resource | None:
    return resources.find(workspace, kind, resource_id)


_FINDERS: Mapping[str, Callable[[str, str], object]] = {
    "definition": definitions.find,
    "experiment": partial(_find_resource, ResourceKind.EXPERIMENT),
    "schedule": schedules.find,
    "eval": partial(_find_resource, ResourceKind.EVAL),
}
