"""Personas: simulated users."""

from typing import Annotated, cast

from pydantic import Field, StringConstraints, field_validator

from cupel_core.contract.common import RequestModel, ResponseModel, example, read_from
from cupel_core.contract.fields import ResourceName, Url, not_null
from cupel_core.contract.headers import Headers, header_values
from cupel_core.contract.resources import NamedResourceResponse
from cupel_core.domain.resources.personas import PersonaFields

Description = Annotated[str, StringConstraints(strict=True, max_length=2_000)]
SystemPrompt = Annotated[str, StringConstraints(strict=True, max_length=20_000)]


MAX_CONNECTOR_URLS = 20


class UpdatePersona(RequestModel):
    """Omitted fields keep their value and null clears it. New `headers` replace the old ones entirely."""

    model_config = example({"description": "Writes very short messages."})

    name: ResourceName | None = None
    description: Description | None = None
    system_prompt: SystemPrompt | None = None
    """System prompt of the model that simulates this user."""
    headers: Headers | None = None
    """Headers of requests for this persona to a connector in `connectorUrls`."""
    connector_urls: Annotated[list[Url] | None, Field(max_length=MAX_CONNECTOR_URLS)] = None
    """The `baseUrl` of each connector that may get the headers; required with `headers`. A new one requires the headers
    again.

    Example: ["https://agent.example.com/v1"]
    """

    _required_fields = field_validator("name")(not_null)

    def fields(self) -> PersonaFields:
        fields = self.model_dump(exclude_unset=True)
        if "headers" in fields:
            fields["headers"] = header_values(self.headers)
        return cast(PersonaFields, fields)


class CreatePersona(UpdatePersona):
    """A simulated user. Names are unique within a workspace, ignoring case."""

    model_config = example(
        {
            "name": "Impatient customer",
            "description": "Writes short messages and wants an answer at once.",
            "systemPrompt": "You are an impatient customer.",
            "headers": {"X-Customer-Tier": "gold"},
            "connectorUrls": ["https://agent.example.com/v1"],
        }
    )

    name: ResourceName


class PersonaResponse(NamedResourceResponse):
    id: Annotated[str, read_from("item.id")]
    """Example: per_01"""
    name: Annotated[str, read_from("item.name")]
    """Example: Impatient customer"""
    description: Annotated[str | None, read_from("item.description")]
    system_prompt: Annotated[str | None, read_from("item.system_prompt")]
    """System prompt of the simulated user."""
    connector_urls: Annotated[list[str], read_from("item.connector_urls")]
    """Addresses that may get the headers. Example: ["https://agent.example.com/v1"]"""


class PersonaPage(ResponseModel):
    items: list[PersonaResponse]
    next_cursor: str | None
