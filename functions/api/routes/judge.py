"""The judge and the simulated user, called outside a run."""

from api.routing import OperationRouter
from cupel_core.base import event_loop
from cupel_core.contract.judge import (
    ConversationJudgementResponse,
    GeneratePersonaMessage,
    JudgeConversation,
    PersonaMessageResponse,
)
from cupel_core.contract.results import SpendResponse
from cupel_core.runs import ad_hoc_judging

router = OperationRouter()


@router.operation("judgeConversation")
def judge_conversation(body: JudgeConversation) -> ConversationJudgementResponse:
    reply = event_loop.run(
        ad_hoc_judging.judge_conversation(router.workspace, body.model, body.conversation(), body.criteria())
    )
    verdict = reply.value
    return ConversationJudgementResponse(
        success_met=verdict.success_met,
        failure_met=verdict.failure_met,
        confidence=verdict.confidence,
        reasoning=verdict.reasoning,
        raw_response=verdict.raw_response,
        spend=SpendResponse.of(reply.spend),
    )


@router.operation("generatePersonaMessage")
def generate_persona_message(body: GeneratePersonaMessage) -> PersonaMessageResponse:
    reply = event_loop.run(
        ad_hoc_judging.simulate_user(
            router.workspace, body.model, body.conversation(), body.persona_or_id(), body.instructions
        )
    )
    return PersonaMessageResponse(content=reply.value, raw_response=reply.raw, spend=SpendResponse.of(reply.spend))
