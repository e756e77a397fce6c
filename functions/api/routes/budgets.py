"""What is used of the workspace's budgets; their limits are among its settings."""

from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.budgets.workspace_budgets import get_use
from cupel_core.contract.workspace_budgets import BudgetsResponse

router = OperationRouter()


@router.operation("getBudgets")
def get_budgets() -> BudgetsResponse:
    return BudgetsResponse.of(*get_use(router.workspace, utc_now()))
