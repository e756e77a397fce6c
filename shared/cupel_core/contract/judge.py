"""The judge and the simulated user, called outside a run."""

from typing import Annotated

from pydantic import Field, model_validator

from cupel_core.contract.common import RequestModel, ResponseModel, example
from cupel_core.contract.fields import SINGLE_LINE, Id, LongText, ModelId
from cupel_core.contract.results import SpendResponse
from cupel_core.contract.scenarios import MessageInput
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.resources.personas import Persona

Messages = Annotated[list[MessageInput], Field(max_length=500)]


def _as_messages(inputs: list[MessageInput]) -> tuple[Message, ...]:
    return tuple(one.message() for one in inputs)


class JudgeConversation(RequestModel):
    """`model` defaults to the workspace's judge model."""

    model_config = example(
        {
            "messages": [
                {"role": "user", "content": "I want my money back."},
                {"role": "assistant", "content": "You have 30 days to return it."},
            ],
            "successCriteria": "The agent explains the 30-day limit.",
            "model": "openai/gpt-6.1-terra",
        }
    )

    messages: Annotated[Messages, Field(min_length=1)]
    success_criteria: LongText | None = None
    """The judge's description of a successful conversation."""
    failure_criteria: LongText | None = None
    """The judge's description of a failed conversation."""
    model: ModelId | None = None

    @model_validator(mode="after")
    def _has_criteria(self) -> "JudgeConversation":
        if not (self.success_criteria or self.failure_criteria):
            raise ValueError("must have successCriteria or failureCriteria, or both")
        return self

    def criteria(self) -> Criteria:
        return Criteria(self.success_criteria, self.failure_criteria)

    def conversation(self) -> tuple[Message, ...]:
        return _as_messages(self.messages)


class ConversationJudgementResponse(ResponseModel):
    success_met: bool
    """True if the success criteria are met. Example: true"""
    failure_met: bool
    """True if the failure criteria are met. Example: false"""
    confidence: float | None
    """From 0 to 1, as the judge states it; null if it does not. Example: 0.9"""
    reasoning: str
    """The judge's reasons."""
    raw_response: str
    """Answer of the model, as it was."""
    spend: SpendResponse


class PersonaInput(RequestModel):
    name: Annotated[str, Field(min_length=1, max_length=200), SINGLE_LINE]
    """Example: Impatient customer"""
    description: LongText | None = None
    system_prompt: LongText | None = None
    """System prompt of the simulated user."""

    def persona(self) -> Persona:
        return Persona("", self.name, self.description, self.system_prompt)


class GeneratePersonaMessage(RequestModel):
    """Specify a persona by id or inline, or neither for a generic user. `model` defaults to the workspace's persona
    model."""

    model_config = example(
        {
            "messages": [{"role": "assistant", "content": "How can I help you?"}],
            "instructions": "Ask for a refund after two months.",
            "persona": {"name": "Impatient customer"},
            "model": "openai/gpt-6.1-terra",
        }
    )

    messages: Messages
    instructions: LongText | None = None
    """Goal of the simulated user."""
    persona_id: Id | None = None
    persona: PersonaInput | None = None
    """The simulated user."""
    model: ModelId | None = None

    @model_validator(mode="after")
    def _has_one_persona(self) -> "GeneratePersonaMessage":
        if self.persona_id is not None and self.persona is not None:
            raise ValueError("must have either personaId or persona, not both")
        return self

    def conversation(self) -> tuple[Message, ...]:
        return _as_messages(self.messages)

    def persona_or_id(self) -> Persona | str | None:
        return self.persona.persona() if self.persona else self.persona_id


class PersonaMessageResponse(ResponseModel):
    content: str
    """Text of the simulated user's message. Example: I want my money back."""
    raw_response: str
    """Answer of the model, as it was."""
    spend: SpendResponse
