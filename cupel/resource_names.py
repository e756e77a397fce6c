"""Reads the names of objects that others refer to by ids; each is read once, when it is first needed."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from cupel.errors import ApiProblem
from cupel.json_types import Json

if TYPE_CHECKING:
    from cupel.client import Client


class ResourceNames:
    """Reads the names of resources; those that were deleted or have no name are called by their ids."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._names: dict[str, str | None] = {}

    def of_run(self, run_id: str) -> str:
        return self._name(run_id, self._client.get_run) or run_id

    def with_id(self, field: str, resource_id: str) -> str:
        """Return the name and the id, such as `Facts (def_01jd3v…)`. `field` is one of REFERENCES."""
        name = self._name(resource_id, self._readers[field])
        return f"{name} ({resource_id})" if name else resource_id

    @property
    def _readers(self) -> Mapping[str, Callable[[str], Json]]:
        client = self._client
        readers = (client.get_definition, client.get_eval, client.get_experiment, client.get_profile)
        return dict(zip(REFERENCES, readers, strict=True))

    def _name(self, resource_id: str, read: Callable[[str], Json]) -> str | None:
        if resource_id not in self._names:
            try:
                self._names[resource_id] = read(resource_id)["name"]
            except ApiProblem as problem:
                if problem.status != HTTPStatus.NOT_FOUND:
                    raise
                self._names[resource_id] = None
        return self._names[resource_id]


REFERENCES = {"definitionId": "definition", "evalId": "eval", "experimentId": "experiment", "profileId": "profile"}
