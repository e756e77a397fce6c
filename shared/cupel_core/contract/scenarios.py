"""A scenario as it is written in a request or in a line of an imported file."""

from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema, no_info_before_validator_function

from cupel_core.contract.common import RequestModel, example, fields_error, require_exactly_with
from cupel_core.contract.content_parts import MessageContent
from cupel_core.contract.fields import SINGLE_LINE, Assertions, Flag, FunctionName, Id, JsonObject, Score, not_blank
from cupel_core.contract.left_out_checks import LeftOutChecks
from cupel_core.contract.tool_results import ToolResults
from cupel_core.domain.conversations.conversation import Criteria, FailureCriteriaMode
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.separate_turns import later_answers, placeholder
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.definitions.scenarios import MAX_TEXT_LENGTH, Scenario
from cupel_core.domain.scoring.assertions import Assertion

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


class ToolCallInput(RequestModel):
    model_config = example({"id": "call_1", "name": "find_order", "arguments": '{"number":"A-17"}'})

    id: Id
    name: FunctionName
    arguments: Annotated[str, StringConstraints(strict=True, max_length=100_000)]
    """JSON of the arguments, as a text."""


class MessageInput(RequestModel):
    """An assistant's message has a content, tool calls, or both; each call is answered by a tool's message."""

    model_config = example({"role": "user", "content": "I want my money back."})

    role: MessageRole
    """Who says it. Example: user"""
    content: MessageContent = ""
    """Text of the message; of a user's, also a list of parts with images and files. Example: I want my money back."""
    tool_calls: Annotated[list[ToolCallInput], Field(default_factory=list, max_length=100)]
    """Functions that the assistant called."""
    tool_call_id: Id | None = None
    """Id of the call that a tool's message answers. Example: call_1"""
    is_error: Flag = False
    """True if a tool's message says why the call failed. Example: true"""

    @model_validator(mode="after")
    def _fits_its_role(self) -> "MessageInput":
        if self.tool_calls and self.role is not MessageRole.ASSISTANT:
            raise ValueError("must not have toolCalls: only an assistant's message has")
        require_exactly_with(self, "tool_call_id", "the role tool", applies=self.role is MessageRole.TOOL)
        if self.is_error and self.role is not MessageRole.TOOL:
            raise ValueError("must not have isError: only a tool's message has")
        if not isinstance(self.content, str):
            if self.role is not MessageRole.USER:
                raise ValueError("must have a text as its content: only a user's message may have parts")
        elif not self.content.strip() and not self.tool_calls and self.role is not MessageRole.TOOL:
            if "content" not in self.model_fields_set:
                raise fields_error(("content",), "is required")
            raise ValueError("must have a content that is not blank")
        return self

    def message(self) -> Message:
        if not isinstance(self.content, str):
            return Message.of_parts(self.role, (part.part() for part in self.content))
        calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in self.tool_calls)
        return Message(self.role, self.content, calls, self.tool_call_id, self.is_error)


def _answers_calls(messages: list[MessageInput]) -> list[MessageInput]:
    """Providers refuse results of calls that were not made."""
    made: set[str] = set()
    for number, message in enumerate(messages):
        made |= {call.id for call in message.tool_calls}
        if message.tool_call_id is not None and message.tool_call_id not in made:
            raise ValueError(f"must not answer an unknown tool call: {message.tool_call_id} in message {number}")
    return messages


Messages = Annotated[list[MessageInput], Field(min_length=1, max_length=MAX_MESSAGES), AfterValidator(_answers_calls)]


class ScenarioFields(RequestModel):
    name: Annotated[str, StringConstraints(strict=True, max_length=MAX_NAME_LENGTH), SINGLE_LINE] | None = None
    prompt: Text | None = None
    """The user's first message."""
    messages: Messages | None = None
    """Messages the conversation starts with."""
    messages_by_prompt: Annotated[dict[Id, Messages], Field(default_factory=dict, max_length=100)]
    """Messages to start with instead, by id of the definition's prompts.

    Example: {"polite": [{"role": "user", "content": "I want my money back."}]}
    """
    dimensions: Annotated[dict[str, Score], Field(default_factory=dict, max_length=100)]
    """Scores by dimension name."""
    metadata: JsonObject = Field(default_factory=dict)
    instructions: Instructions | None = None
    """Goal of the simulated user; not shown to the target. Example: Ask for a refund after two months."""
    follow_ups: Annotated[list[Text], Field(default_factory=list, max_length=MAX_FOLLOW_UPS)]
    """User messages after the first answer, in order, instead of the definition's."""
    separate_turns: Flag = False
    """True if each message is a request without the earlier ones; `[answer 1]` in a follow-up is then the first answer.

    Example: false
    """
    max_messages: Annotated[int, Field(strict=True, ge=1, le=MAX_MESSAGES)] | None = None
    """Messages of the conversation at most, those of the scenario included. Example: 8"""
    success_criteria: Instructions | None = None
    """Condition for the judge's success. Example: The agent explains the 30-day limit."""
    failure_criteria: Instructions | None = None
    """Condition for the judge's failure."""
    failure_criteria_mode: FailureCriteriaMode | None = None
    """Number of failure criteria for a failure: any or all."""
    assertions: Assertions = Field(default_factory=list)
    persona_ids: PersonaIds = Field(default_factory=list)
    tool_results: ToolResults = Field(default_factory=list)
    left_out_checks: LeftOutChecks = Field(default_factory=dict)

    @model_validator(mode="after")
    def _uses_earlier_answers(self) -> Self:
        later = next(later_answers(self.follow_ups), None) if self.separate_turns else None
        if later is not None:
            position, turn = later
            raise ValueError(f"must use answers of earlier turns only: followUps.{position} has {placeholder(turn)}")
        return self


class CreateScenario(ScenarioFields):
    """`prompt` and `messages` exclude each other. With `instructions` both may be omitted; the simulated user then
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
        has_start = self.messages_by_prompt or self.metadata.get("vars")
        if self.prompt is None and self.messages is None and self.instructions is None and not has_start:
            raise ValueError(
                "must have a prompt, messages, instructions for a simulated user who starts, or metadata.vars for the "
                "definition's prompts"
            )
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
            separate_turns=self.separate_turns,
            max_messages=self.max_messages,
            criteria=self._criteria(),
            assertions=tuple(map(Assertion.from_json, self.assertions)),
            persona_ids=tuple(self.persona_ids),
            messages_by_prompt={
                prompt_id: tuple(message.message() for message in messages)
                for prompt_id, messages in self.messages_by_prompt.items()
            },
            tool_results=tuple(result.script() for result in self.tool_results),
            left_out_checks=dict(self.left_out_checks),
        )

    def _opening(self) -> tuple[Message, ...]:
        if self.prompt is not None:
            return (Message(MessageRole.USER, self.prompt),)
        return tuple(message.message() for message in self.messages or ())

    def _criteria(self) -> Criteria:
        mode = self.failure_criteria_mode or FailureCriteriaMode.ON_MAX_MESSAGES
        return Criteria(self.success_criteria, self.failure_criteria, mode)


class _MayBeText:
    """A text in place of a scenario is its prompt."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(_from_text, handler(source))

    @staticmethod
    def __get_pydantic_json_schema__(schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        text = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_LENGTH, "description": "The prompt alone"}
        return {"anyOf": [handler(schema), text]}


def _from_text(value: Any) -> Any:
    return {"prompt": value} if isinstance(value, str) else value


ScenarioItem = Annotated[CreateScenario, _MayBeText]


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
