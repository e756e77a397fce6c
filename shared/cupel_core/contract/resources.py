"""What personas, connectors and evals have in common."""

from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints

from cupel_core.contract.common import Answer, Time
from cupel_core.contract.headers import Names
from cupel_core.domain.text.json_limits import unfit
from cupel_core.resources.named_resource import Kept
from cupel_core.store.resources import MAX_NAME_LENGTH, is_name


def _fit(name: str) -> str:
    if why := unfit(name):
        raise ValueError(why)
    if not is_name(name):
        raise ValueError("must not be blank, nor much longer than it looks")
    return name


def not_null[T](value: T | None) -> T:
    """For what a change may leave out, and not unset."""
    if value is None:
        raise ValueError("must not be null")
    return value


class KeptAnswer(Answer):
    """Of a persona or a connector."""

    id: str
    name: str
    header_names: Names
    created_at: Time
    updated_at: Time


def kept_fields(kept: Kept[Any]) -> dict[str, Any]:
    return {
        "header_names": list(kept.header_names),
        "created_at": kept.created_at,
        "updated_at": kept.updated_at,
    }


ResourceName = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=MAX_NAME_LENGTH), AfterValidator(_fit)
]
