"""Fields that personas and connectors have in common."""

from typing import Annotated

from cupel_core.contract.common import ResponseModel, Time, read_from
from cupel_core.contract.headers import HeaderNames


class NamedResourceResponse(ResponseModel):
    id: Annotated[str, read_from("item.id")]
    name: Annotated[str, read_from("item.name")]
    header_names: HeaderNames
    """Example: ["Authorization"]"""
    created_at: Time
    updated_at: Time
