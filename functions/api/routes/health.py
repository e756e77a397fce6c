"""The health check."""

from api.routing import OperationRouter
from cupel_core.contract.service import VERSION, HealthResponse

router = OperationRouter()


@router.operation("getHealth")
def get_health() -> HealthResponse:
    return HealthResponse(status="ok", version=VERSION)
