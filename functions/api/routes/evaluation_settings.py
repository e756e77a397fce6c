"""What a workspace's runs are evaluated with."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import admin, caller
from cupel_core.contract.evals import SettingsAnswer, SettingsRequest
from cupel_core.resources import evaluation_settings

router = APIGatewayHttpRouter()


@router.get("/settings", summary="Read what runs are evaluated with", tags=["settings"])
def get() -> SettingsAnswer:
    return SettingsAnswer.of(evaluation_settings.read(caller(router.current_event).workspace))


@router.put("/settings", summary="Set what runs are evaluated with", tags=["settings"])
def configure(body: SettingsRequest) -> SettingsAnswer:
    workspace = admin(router.current_event).workspace
    return SettingsAnswer.of(evaluation_settings.configure(workspace, body.changes()))
