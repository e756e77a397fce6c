from cupel_core.budgets.workspace_budgets import get_use
from cupel_core.contract.operation import VIEWER, AsTool, Call, ToolGroup, operation
from cupel_core.contract.workspace_budgets import BudgetsResponse


@operation(
    "GET /v1/budgets",
    "Get what is used of the workspace's budgets for the day and the month",
    role=VIEWER,
    returns="The budgets of today and of this month",
    tag="settings",
    tool=AsTool(
        ToolGroup.READ,
        (
            "day.period day.limitUsd day.spentUsd day.reservedUsd day.availableUsd month.period"
            " month.limitUsd month.spentUsd month.reservedUsd month.availableUsd"
        ),
        max_kb=2,
    ),
)
def get_budgets(call: Call) -> BudgetsResponse:
    """The limits are `budgets` of the settings. Calls are counted while there is a limit."""
    return BudgetsResponse.of(*get_use(call.workspace, call.now))
