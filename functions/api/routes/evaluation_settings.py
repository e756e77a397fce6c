"""The workspace's defaults for grading."""

from api.routing import OperationRouter
from cupel_core.contract.evals import SettingsResponse, UpdateSettings
from cupel_core.resources import evaluation_settings

router = OperationRouter()


@router.operation("getSettings")
def get_settings() -> SettingsResponse:
    return SettingsResponse.of(evaluation_settings.get_settings(router.workspace))


@router.operation("updateSettings")
def update_settings(body: UpdateSettings) -> SettingsResponse:
    return SettingsResponse.of(evaluation_settings.update_settings(router.workspace, body.changes()))
