"""A scenario as people write it, in a request or in a line of an imported file."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.json_limits import unfit
from cupel_core.domain.turns.conversation import Criteria, FailureMode
from cupel_core.domain.turns.model_request import Message, Role

NAME_LENGTH = 500
TEXT_LENGTH = 500_000
INSTRUCTIONS_LENGTH = 50_000
MAX_PERSONAS = 100
MOST_MESSAGES = 200


def _fit(value: dict[str, Any]) -> dict[str, Any]:
    if why := unfit(value):
        raise ValueError(why)
    return value


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _each_once(texts: list[str]) -> list[str]:
    if len(set(texts)) < len(texts):
        raise ValueError("must not name one twice")
    return texts


Text = Annotated[str, StringConstraints(strict=True, max_length=TEXT_LENGTH), AfterValidator(_not_blank)]
Instructions = Annotated[
    str, StringConstraints(strict=True, max_length=INSTRUCTIONS_LENGTH), AfterValidator(_not_blank)
]
Document = Annotated[dict[str, Any], AfterValidator(_fit)]
"""A JSON object that is kept as it is."""
Assertions = Annotated[
    list[Document],
    Field(max_length=100, description="`{type, value?, threshold?, weight?, metric?, …}`: see docs/assertions.md"),
]
"""Of which shape each must be is asked when they are added, by shared/cupel_core/definitions/assertions.py."""
PersonaIds = Annotated[
    list[Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100)]],
    Field(max_length=MAX_PERSONAS, description="Each has a conversation of its own"),
    AfterValidator(_each_once),
]
_BOUND = 1_000_000_000
Score = (
    Annotated[int, Field(strict=True, ge=-_BOUND, le=_BOUND)]
    | Annotated[FiniteFloat, Field(strict=True, ge=-_BOUND, le=_BOUND)]
)
"""Whole numbers stay whole."""


class MessageItem(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    role: Role
    content: Text


class ScenarioItem(BaseModel):
    """At most one of `prompt` (what the user says first) and `messages`; with `instructions`, the simulated user may
    begin, and neither is needed."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)

    name: Annotated[str, StringConstraints(strict=True, max_length=NAME_LENGTH)] | None = None
    prompt: Text | None = None
    messages: Annotated[list[MessageItem], Field(min_length=1, max_length=MOST_MESSAGES)] | None = None
    dimensions: Annotated[dict[str, Score], Field(max_length=100)] = {}
    metadata: Document = {}
    instructions: Annotated[
        Instructions | None, Field(description="What the simulated user wants; the target is not told")
    ] = None
    max_messages: Annotated[int, Field(strict=True, ge=1, le=MOST_MESSAGES)] | None = None
    success_criteria: Instructions | None = None
    failure_criteria: Instructions | None = None
    failure_criteria_mode: FailureMode | None = None
    assertions: Assertions = []
    persona_ids: PersonaIds = []

    @model_validator(mode="after")
    def _says_something_once(self) -> "ScenarioItem":
        if self.prompt is not None and self.messages is not None:
            raise ValueError("must have a prompt or messages, not both")
        if self.prompt is None and self.messages is None and self.instructions is None:
            raise ValueError("must have a prompt, messages, or instructions for a simulated user who begins")
        return self

    def to_scenario(self) -> Scenario:
        """Not yet numbered; its assertions must have been checked."""
        return Scenario(
            id="",
            name=self.name or "",
            messages=self._messages(),
            dimensions=dict(self.dimensions),
            metadata=self.metadata,
            instructions=self.instructions,
            max_messages=self.max_messages,
            criteria=self._criteria(),
            assertions=tuple(map(Assertion.from_json, self.assertions)),
            persona_ids=tuple(self.persona_ids),
        )

    def _messages(self) -> tuple[Message, ...]:
        if self.prompt is not None:
            return (Message(Role.USER, self.prompt),)
        return tuple(Message(message.role, message.content) for message in self.messages or ())

    def _criteria(self) -> Criteria:
        mode = self.failure_criteria_mode or FailureMode.ON_MAX_MESSAGES
        return Criteria(self.success_criteria, self.failure_criteria, mode)
