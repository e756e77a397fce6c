"""The queues of the providers: how they stand, pausing them, and their dead letters."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.contract.queues import (
    LetterAnswer,
    LetterList,
    QueueAnswer,
    QueueList,
    QueueRequest,
    RedrivenAnswer,
    RedriveRequest,
)
from cupel_core.queues import dead_letters, status

router = APIGatewayHttpRouter()

Provider = Annotated[str | None, Query(description="Only this provider's")]


@router.get("/queue", summary="See how the providers' queues stand", tags=["queue"])
def get(provider: Provider = None) -> QueueList:
    return _standings(provider)


@router.post("/queue/pause", summary="Begin nothing new with a provider, or with any", tags=["queue"])
def pause(body: Annotated[QueueRequest | None, Body()] = None) -> QueueList:
    provider = body.provider if body else None
    status.pause(_workspace(), provider)
    return _standings(provider)


@router.post("/queue/resume", summary="Go on with a provider, or with all", tags=["queue"])
def resume(body: Annotated[QueueRequest | None, Body()] = None) -> QueueList:
    provider = body.provider if body else None
    status.resume(_workspace(), provider)
    return _standings(provider)


@router.get("/queue/dead", summary="List messages that were given up", tags=["queue"])
def dead(provider: Provider = None) -> LetterList:
    return LetterList(items=[LetterAnswer.of(letter) for letter in dead_letters.dead(_workspace(), provider)])


@router.post("/queue/dead/redrive", summary="Send dead letters again whose probes are still to run", tags=["queue"])
def redrive(body: Annotated[RedriveRequest | None, Body()] = None) -> RedrivenAnswer:
    wanted = body or RedriveRequest()
    return RedrivenAnswer.of(dead_letters.redrive(_workspace(), wanted.provider, wanted.message_ids))


def _workspace() -> str:
    return caller(router.current_event).workspace


def _standings(provider: str | None) -> QueueList:
    return QueueList(items=[QueueAnswer.of(each) for each in status.standings(_workspace(), provider)])
