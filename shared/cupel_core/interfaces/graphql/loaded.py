"""Objects of an answer: models of the contract as JSON, with what they were made of."""

from collections.abc import Mapping
from typing import Any

from cupel_core.contract.common import ResponseModel


class Loaded(dict[str, Any]):
    """A model of the contract as JSON, with what it was made of."""

    def __init__(self, model: ResponseModel, made_of: Any = None) -> None:
        super().__init__(dump(model))
        self.made_of = made_of

    @classmethod
    def of(cls, values: Mapping[str, Any], made_of: Any) -> "Loaded":
        """Take JSON that was part of another model's."""
        loaded = cls.__new__(cls)
        loaded.update(values)
        loaded.made_of = made_of
        return loaded


def dump(model: ResponseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True)
