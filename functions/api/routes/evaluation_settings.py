"""The workspace's defaults for grading."""

from api.parameters import IfMatch
from api.routing import OperationRouter
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.evals import SettingsResponse, UpdateSettings
from cupel_core.domain.resources.evaluation_settings import EvaluationSettings
from cupel_core.resources import evaluation_settings

router = OperationRouter()


@router.operation("getSettings")
def get_settings() -> SettingsResponse:
    return _tagged(evaluation_settings.get_settings(router.workspace))


@router.operation("updateSettings")
def update_settings(body: UpdateSettings, if_match: IfMatch = None) -> SettingsResponse:
    precondition = Precondition.parse(if_match)
    return _tagged(evaluation_settings.update_settings(router.workspace, body.changes(), precondition))


def _tagged(settings: EvaluationSettings) -> SettingsResponse:
    return router.tagged(SettingsResponse.of(settings), etag(settings.revision))
