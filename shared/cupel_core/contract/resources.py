"""What personas and connectors have in common."""

from typing import Annotated, Any

from cupel_core.contract.common import ResponseModel, Time, read_from
from cupel_core.contract.headers import HeaderNames
from cupel_core.domain.resources.named_resource import NamedResource


class NamedResourceResponse(ResponseModel):
    id: Annotated[str, read_from("item.id")]
    name: Annotated[str, read_from("item.name")]
    header_names: HeaderNames
    created_at: Time
    updated_at: Time


def named_resource_fields(resource: NamedResource[Any]) -> dict[str, Any]:
    return {
        "header_names": list(resource.header_names),
        "created_at": resource.created_at,
        "updated_at": resource.updated_at,
    }
