from cupel_core.base import event_loop
from cupel_core.contract.judge import (
    ConversationJudgementResponse,
    GeneratePersonaMessage,
    JudgeConversation,
    PersonaMessageResponse,
)
from cupel_core.contract.operation import (
    MEMBER,
    Call,
    operation,
)
from cupel_core.contract.results import SpendResponse
from cupel_core.runs import ad_hoc_judging


@operation(
    "POST /v1/judge/criteria",
    "Judge a conversation against success and failure criteria",
    role=MEMBER,
    returns="The judge's verdict, and what it cost",
    calls_others=True,
)
def judge_conversation(call: Call, body: JudgeConversation) -> ConversationJudgementResponse:
    reply = event_loop.run(
        ad_hoc_judging.judge_conversation(call.workspace, body.model, body.conversation(), body.criteria())
    )
    verdict = reply.value
    return ConversationJudgementResponse(
        success_met=verdict.success_met,
        failure_met=verdict.failure_met,
        confidence=verdict.confidence,
        reasoning=verdict.reasoning,
        raw_response=verdict.raw_response,
        spend=SpendResponse.from_value(reply.spend),
    )


@operation(
    "POST /v1/judge/persona-message",
    "Generate the next message of a simulated user",
    role=MEMBER,
    returns="The message, and what it cost",
    calls_others=True,
)
def generate_persona_message(call: Call, body: GeneratePersonaMessage) -> PersonaMessageResponse:
    reply = event_loop.run(
        ad_hoc_judging.simulate_user(
            call.workspace, body.model, body.conversation(), body.persona_or_id(), body.instructions
        )
    )
    return PersonaMessageResponse(
        content=reply.value, raw_response=reply.raw, spend=SpendResponse.from_value(reply.spend)
    )
