"""The judge and the simulated user on their own."""

from typing import Annotated

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from pydantic import Field, model_validator

from api.caller import caller
from cupel_core import event_loop
from cupel_core.contract.common import Answer, Request
from cupel_core.contract.definitions import Words
from cupel_core.contract.results import SpendAnswer
from cupel_core.contract.runs import Model
from cupel_core.contract.scenarios import MessageItem
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.turns.conversation import Criteria
from cupel_core.domain.turns.model_request import Message
from cupel_core.runs import ad_hoc_judging

router = APIGatewayHttpRouter()

Messages = Annotated[list[MessageItem], Field(max_length=500)]


class CriteriaRequest(Request):
    """`model` is the workspace's judge when left out."""

    messages: Annotated[Messages, Field(min_length=1)]
    success_criteria: Words | None = None
    failure_criteria: Words | None = None
    model: Model | None = None

    @model_validator(mode="after")
    def _has_criteria(self) -> "CriteriaRequest":
        if not (self.success_criteria or self.failure_criteria):
            raise ValueError("must have successCriteria or failureCriteria, or both")
        return self


class CriteriaAnswer(Answer):
    success_met: bool
    failure_met: bool
    confidence: float
    reasoning: str
    raw_response: str
    spend: SpendAnswer


class PersonaBody(Request):
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: Words | None = None
    system_prompt: Words | None = None

    def persona(self) -> Persona:
        return Persona("", self.name, self.description, self.system_prompt)


class PersonaMessageRequest(Request):
    """A persona by its id or described here, or nobody in particular; `model` is the workspace's when left out."""

    messages: Messages
    instructions: Annotated[Words | None, Field(description="What the user is about")] = None
    persona_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    persona: PersonaBody | None = None
    model: Model | None = None

    @model_validator(mode="after")
    def _has_one_persona(self) -> "PersonaMessageRequest":
        if self.persona_id is not None and self.persona is not None:
            raise ValueError("must have personaId or persona, not both")
        return self


class PersonaMessageAnswer(Answer):
    content: str
    raw_response: str
    spend: SpendAnswer


@router.post("/judge/criteria", summary="Judge a conversation by criteria", tags=["judge"])
def criteria(body: CriteriaRequest) -> CriteriaAnswer:
    workspace = caller(router.current_event).workspace
    wanted = Criteria(body.success_criteria, body.failure_criteria)
    asked = event_loop.run(ad_hoc_judging.judge(workspace, body.model, _messages(body.messages), wanted))
    verdict = asked.value
    return CriteriaAnswer(
        success_met=verdict.success_met,
        failure_met=verdict.failure_met,
        confidence=verdict.confidence,
        reasoning=verdict.reasoning,
        raw_response=verdict.raw_response,
        spend=SpendAnswer.of(asked.spend),
    )


@router.post("/judge/persona-message", summary="Write what a simulated user says next", tags=["judge"])
def persona_message(body: PersonaMessageRequest) -> PersonaMessageAnswer:
    workspace = caller(router.current_event).workspace
    persona = body.persona.persona() if body.persona else body.persona_id
    asked = event_loop.run(
        ad_hoc_judging.speak(workspace, body.model, _messages(body.messages), persona, body.instructions)
    )
    return PersonaMessageAnswer(content=asked.value, raw_response=asked.raw, spend=SpendAnswer.of(asked.spend))


def _messages(items: list[MessageItem]) -> tuple[Message, ...]:
    return tuple(Message(item.role, item.content) for item in items)
