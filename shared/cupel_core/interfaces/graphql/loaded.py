from collections.abc import Mapping
from typing import Any

from cupel_core.contract.common import ResponseModel


class Loaded(dict[str, Any]):
    """Holds a response model as JSON. `origin` is its domain object, or a future of the complete answer."""

    def __init__(self, model: ResponseModel, origin: Any = None) -> None:
        super().__init__(dump(model))
        self.origin = origin

    @classmethod
    def of(cls, values: Mapping[str, Any], origin: Any) -> "Loaded":
        loaded = cls.__new__(cls)
        loaded.update(values)
        loaded.origin = origin
        return loaded


def dump(model: ResponseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True)
