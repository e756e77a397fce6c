"""A scenario as people write it, in a request or in a line of an imported file."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, model_validator

from shared.domain.conversation import Message, Role
from shared.domain.documents import unfit
from shared.domain.scenarios import Scenario

NAME_LENGTH = 500
TEXT_LENGTH = 500_000


def _fit(value: dict[str, Any]) -> dict[str, Any]:
    if why := unfit(value):
        raise ValueError(why)
    return value


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, StringConstraints(strict=True, max_length=TEXT_LENGTH), AfterValidator(_not_blank)]
Document = Annotated[dict[str, Any], AfterValidator(_fit)]
"""A JSON object that is kept as it is."""
_BOUND = 1_000_000_000
Score = (
    Annotated[int, Field(strict=True, ge=-_BOUND, le=_BOUND)]
    | Annotated[FiniteFloat, Field(strict=True, ge=-_BOUND, le=_BOUND)]
)
"""Whole numbers stay whole."""


class MessageItem(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role
    content: Text


class ScenarioItem(BaseModel):
    """Exactly one of `prompt` (what the user says first) and `messages`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(strict=True, max_length=NAME_LENGTH)] | None = None
    prompt: Text | None = None
    messages: Annotated[list[MessageItem], Field(min_length=1, max_length=200)] | None = None
    dimensions: Annotated[dict[str, Score], Field(max_length=100)] = {}
    metadata: Document = {}

    @model_validator(mode="after")
    def _says_something_once(self) -> "ScenarioItem":
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("must have a prompt or messages, one of the two")
        return self

    def to_scenario(self) -> Scenario:
        """Not yet numbered."""
        if self.prompt is not None:
            messages: tuple[Message, ...] = (Message(Role.USER, self.prompt),)
        else:
            messages = tuple(Message(message.role, message.content) for message in self.messages or ())
        return Scenario("", self.name or "", messages, dict(self.dimensions), self.metadata)
