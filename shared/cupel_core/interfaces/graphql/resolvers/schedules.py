from typing import Any

from cupel_core.base.paging import Page
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.resolvers.runs import runs_of


@resolves("Schedule.runs", "listRuns")
def schedule_runs(request: Request, source: Loaded, limit: int, status: str | None = None) -> Page[Loaded]:
    return runs_of(request, limit, status, schedule_id=source["id"])


@resolves("ScheduleFiring.run", "getRun", 10)
async def firing_run(request: Request, source: dict[str, Any]) -> Loaded | None:
    if source["runId"] is None:
        return None
    found: Loaded | None = await request.load.run.load(source["runId"])
    return found
