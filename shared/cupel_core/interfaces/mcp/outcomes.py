from typing import Any

from cupel_core.contract.common import ResponseModel
from cupel_core.contract.operation import Answered, Revalidated, Tagged


def unwrapped(result: Any) -> Any:
    while isinstance(result, Tagged | Revalidated | Answered):
        result = result.body
    return result


def names_of(result: Any) -> dict[str, Any]:
    """Return the whole response, in which created objects are found; it is empty for lists and non-objects."""
    found = unwrapped(result)
    if isinstance(found, ResponseModel):
        return found.model_dump(mode="json", by_alias=True)
    return found if isinstance(found, dict) else {}
