from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.contract.common import RequestModel
from cupel_core.domain.text.validation_messages import error_message, without_union_members


def parse[M: RequestModel](model: type[M], values: Mapping[str, Any], field: str = "input") -> M:
    """Validate the values. Raises Invalid with the path of each invalid field, which begins with `field`."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise Invalid.fields(
            FieldError(_path(field, *without_union_members(each["loc"], values)), error_message(each))
            for each in error.errors()
        ) from None


def _path(*words: str | int) -> str:
    return ".".join(str(word) for word in words if word != "")
