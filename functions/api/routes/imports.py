"""Imports: evaluations in the formats of other tools become definitions with scenarios."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.imports import DatasetRequest, ImportAnswer, ImportOptions, PromptfooRequest
from cupel_core.imports import creation
from cupel_core.imports.creation import Order
from cupel_core.imports.datasets import Format

router = APIGatewayHttpRouter()
_TAGS = ["imports"]


@router.post("/imports/promptfoo", summary="Import a promptfoo configuration", tags=_TAGS, status_code=201)
def promptfoo(body: PromptfooRequest) -> ImportAnswer:
    return ImportAnswer.of(creation.promptfoo(_order(body), body.config, body.files))


@router.post("/imports/<kind>", summary="Import samples of another tool", tags=_TAGS, status_code=201)
def dataset(kind: Format, body: DatasetRequest) -> ImportAnswer:
    return ImportAnswer.of(creation.dataset(_order(body), body.content, kind, body.name, body.scorer))


def _order(body: ImportOptions) -> Order:
    return Order(caller(router.current_event).workspace, utc_now(), dry=body.dry_run, folder=body.folder)
