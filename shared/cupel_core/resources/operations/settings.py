from cupel_core.base.preconditions import etag
from cupel_core.contract.evals import SettingsResponse, UpdateSettings
from cupel_core.contract.operation import ADMIN, VIEWER, AsTool, Call, Tagged, ToolGroup, operation
from cupel_core.domain.resources.evaluation_settings import EvaluationSettings
from cupel_core.resources import evaluation_settings


@operation(
    "GET /v1/settings",
    "Get the workspace's evaluation settings",
    role=VIEWER,
    returns="The settings",
    tool=AsTool(
        ToolGroup.READ,
        ("judgeModel personaModel embeddingModel analysisModel summarizerModel openRunsPerOwner openRuns budgets"),
        max_kb=2,
    ),
)
def get_settings(call: Call) -> Tagged[SettingsResponse]:
    return _tagged(evaluation_settings.get_settings(call.workspace))


@operation(
    "PUT /v1/settings",
    "Update the workspace's evaluation settings",
    role=ADMIN,
    returns="The updated settings",
    if_match=True,
    tool=AsTool(
        ToolGroup.ADMIN,
        ("judgeModel personaModel embeddingModel analysisModel summarizerModel openRunsPerOwner openRuns budgets"),
        max_kb=2,
    ),
)
def update_settings(call: Call, body: UpdateSettings) -> Tagged[SettingsResponse]:
    return _tagged(evaluation_settings.update_settings(call.workspace, body.changes(), call.precondition))


def _tagged(settings: EvaluationSettings) -> Tagged[SettingsResponse]:
    return Tagged(SettingsResponse.of(settings), etag(settings.revision))
