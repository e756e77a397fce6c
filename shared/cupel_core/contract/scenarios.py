"""A scenario as it is written in a request or in a line of an imported file."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from cupel_core.contract.common import RequestModel, example
from cupel_core.contract.fields import SINGLE_LINE, Assertions, Id, JsonObject, Score, not_blank
from cupel_core.domain.definitions.scenarios import MAX_TEXT_LENGTH, Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.turns.conversation import Criteria, FailureCriteriaMode
from cupel_core.domain.turns.model_request import Message, MessageRole

MAX_NAME_LENGTH = 500
MAX_INSTRUCTIONS_LENGTH = 50_000
MAX_PERSONAS = 100
MAX_MESSAGES = 200
MAX_FOLLOW_UPS = 99


def _distinct(texts: list[str]) -> list[str]:
    if len(set(texts)) < len(texts):
        raise ValueError("must not contain duplicates")
    return texts


Text = Annotated[str, StringConstraints(strict=True, max_length=MAX_TEXT_LENGTH), AfterValidator(not_blank)]
Instructions = Annotated[
    str, StringConstraints(strict=True, max_length=MAX_INSTRUCTIONS_LENGTH), AfterValidator(not_blank)
]
PersonaIds = Annotated[
    list[Id],
    Field(max_length=MAX_PERSONAS, description="Ids of personas; each one has its own conversation"),
    AfterValidator(_distinct),
]


class MessageInput(RequestModel):
    role: MessageRole
    content: Text


class ScenarioFields(RequestModel):
    name: Annotated[str, StringConstraints(strict=True, max_length=MAX_NAME_LENGTH), SINGLE_LINE] | None = None
    prompt: Annotated[Text | None, Field(description="The user's first message")] = None
    messages: Annotated[
        list[MessageInput] | None,
        Field(min_length=1, max_length=MAX_MESSAGES, description="Messages the conversation starts with"),
    ] = None
    dimensions: Annotated[
        dict[str, Score], Field(default_factory=dict, max_length=100, description="Scores by dimension name")
    ]
    metadata: JsonObject = Field(default_factory=dict)
    instructions: Annotated[
        Instructions | None, Field(description="What the simulated user wants; not shown to the target")
    ] = None
    follow_ups: Annotated[
        list[Text],
        Field(
            default_factory=list,
            max_length=MAX_FOLLOW_UPS,
            description="User messages after the first answer, in order, instead of the definition's",
        ),
    ]
    max_messages: Annotated[int, Field(strict=True, ge=1, le=MAX_MESSAGES)] | None = None
    success_criteria: Annotated[Instructions | None, Field(description="When the judge ends with success")] = None
    failure_criteria: Annotated[Instructions | None, Field(description="When the judge ends with failure")] = None
    failure_criteria_mode: FailureCriteriaMode | None = None
    assertions: Assertions = Field(default_factory=list)
    persona_ids: PersonaIds = Field(default_factory=list)


class CreateScenario(ScenarioFields):
    """At most one of `prompt` and `messages`. With `instructions` both may be omitted; the simulated user then
    starts."""

    model_config = example(
        {
            "name": "late refund",
            "prompt": "I bought this two months ago and want my money back.",
            "dimensions": {"delay": 5},
            "successCriteria": "The agent explains the 30-day limit.",
        }
    )

    @model_validator(mode="after")
    def _has_one_start(self) -> "CreateScenario":
        if self.prompt is not None and self.messages is not None:
            raise ValueError("must have either a prompt or messages, not both")
        if self.prompt is None and self.messages is None and self.instructions is None:
            raise ValueError("must have a prompt, messages, or instructions for a simulated user who starts")
        return self

    def to_scenario(self) -> Scenario:
        """The scenario without its id; its assertions must have been checked."""
        return Scenario(
            id="",
            name=self.name or "",
            messages=self._opening(),
            dimensions=dict(self.dimensions),
            metadata=self.metadata,
            instructions=self.instructions,
            follow_ups=tuple(self.follow_ups),
            max_messages=self.max_messages,
            criteria=self._criteria(),
            assertions=tuple(map(Assertion.from_json, self.assertions)),
            persona_ids=tuple(self.persona_ids),
        )

    def _opening(self) -> tuple[Message, ...]:
        if self.prompt is not None:
            return (Message(MessageRole.USER, self.prompt),)
        return tuple(Message(message.role, message.content) for message in self.messages or ())

    def _criteria(self) -> Criteria:
        mode = self.failure_criteria_mode or FailureCriteriaMode.ON_MAX_MESSAGES
        return Criteria(self.success_criteria, self.failure_criteria, mode)


class UpdateScenario(ScenarioFields):
    """Omitted fields keep their value; null removes one. `prompt` replaces all messages."""

    model_config = example(
        {"prompt": "I bought this nine weeks ago and want my money back.", "dimensions": {"delay": 5}}
    )

    @model_validator(mode="after")
    def _has_at_most_one_start(self) -> "UpdateScenario":
        if self.prompt is not None and self.messages is not None:
            raise ValueError("must have either a prompt or messages, not both")
        return self

    def apply_to(self, scenario: Scenario) -> dict[str, object]:
        """The changed scenario as JSON of a `CreateScenario`."""
        stored = {name: value for name, value in scenario.to_json().items() if name != "id" and value != []}
        changes = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if "prompt" in changes:
            stored.pop("messages", None)
        return {name: value for name, value in {**stored, **changes}.items() if value is not None}
