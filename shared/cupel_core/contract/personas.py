"""What is asked and told about personas."""

from typing import Annotated, cast

from pydantic import Field, StringConstraints, field_validator

from cupel_core.contract.common import Answer, Request
from cupel_core.contract.headers import Headers, values_of
from cupel_core.contract.resources import KeptAnswer, ResourceName, kept_fields, not_null
from cupel_core.domain.resources.personas import Persona
from cupel_core.resources.named_resource import Kept
from cupel_core.resources.personas import PersonaFields

Description = Annotated[str, StringConstraints(strict=True, max_length=2_000)]
Prompt = Annotated[str, StringConstraints(strict=True, max_length=20_000)]


class PersonaChange(Request):
    """Fields that are left out stay as they are, and null unsets them. Headers are replaced as a whole."""

    name: ResourceName | None = None
    description: Description | None = None
    system_prompt: Annotated[Prompt | None, Field(description="Who the simulated user is, for the model behind it")] = (
        None
    )
    headers: Annotated[Headers | None, Field(description="Go with each request to a connector")] = None

    _keeps_a_name = field_validator("name")(not_null)

    def fields(self) -> PersonaFields:
        given = self.model_dump(exclude_unset=True)
        if "headers" in given:
            given["headers"] = values_of(self.headers)
        return cast(PersonaFields, given)


class PersonaRequest(PersonaChange):
    """A simulated user. The name is given once in a workspace, in any case."""

    name: ResourceName


class PersonaAnswer(KeptAnswer):
    description: str | None
    system_prompt: str | None

    @classmethod
    def of(cls, kept: Kept[Persona]) -> "PersonaAnswer":
        persona = kept.item
        return cls(
            id=persona.id,
            name=persona.name,
            description=persona.description,
            system_prompt=persona.system_prompt,
            **kept_fields(kept),
        )


class PersonaList(Answer):
    items: list[PersonaAnswer]
    next_cursor: str | None
