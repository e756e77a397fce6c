from typing import Any

from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Page, fill_page, slice_page
from cupel_core.contract.runs import RunEventResponse, RunResponse
from cupel_core.contract.transcripts import TranscriptResponse
from cupel_core.domain.runs.run import RunStatus
from cupel_core.domain.runs.views import RunView
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.loaders import TranscriptKey
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.runs import queries
from cupel_core.store import events

_MAX_SEQ = 99_999_998


def to_run(request: Request, view: RunView) -> Loaded:
    request.runs[view.run.id] = view.run
    return Loaded(RunResponse.of(view), view.run)


@resolves("Definition.runs", "listRuns")
def definition_runs(request: Request, source: Loaded, limit: int, status: str | None = None) -> Page[Loaded]:
    return runs_of(request, limit, status, definition_id=source["id"])


def runs_of(request: Request, limit: int, status: str | None, **owner: Any) -> Page[Loaded]:
    page = queries.list_runs(
        request.workspace, status=RunStatus(status) if status else None, limit=check_limit(limit), **owner
    )
    return page.map(lambda view: to_run(request, view))


@resolves("Run.definition", "getDefinition")
async def definition(request: Request, source: Loaded) -> Loaded | None:
    found: Loaded | None = await request.load.definition.load(source["definitionId"])
    return found


@resolves("Run.models", "getRun", 0)
async def models(_: Request, source: Loaded) -> Any:
    return source["config"]["models"]


@resolves("Run.targets", "getRun", 0)
async def targets(_: Request, source: Loaded) -> Any:
    return source["config"]["targets"]


@resolves("Run.rates", "listRuns")
async def rates(request: Request, source: Loaded) -> Any:
    return await request.load.rates.load(source["id"])


@resolves("Run.costUsd", "getRun", 0)
async def cost_usd(_: Request, source: Loaded) -> Any:
    return source["spend"]["costUsd"]


@resolves("Run.transcripts", "listTranscripts", 1, item_cost=5)
async def transcripts(
    request: Request,
    source: Loaded,
    limit: int,
    model: str | None = None,
    prompt_id: str | None = None,
    scenario_id: str | None = None,
) -> Page[Loaded]:
    key = TranscriptKey(source["id"], model, prompt_id, scenario_id, check_limit(limit))
    found: Page[Loaded] = await request.load.transcripts.load(key)
    return found


@resolves("Run.transcriptsConnection", "listTranscripts", 1, item_cost=5)
def transcripts_connection(
    request: Request,
    source: Loaded,
    first: int,
    after: str | None = None,
    model: str | None = None,
    prompt_id: str | None = None,
    scenario_id: str | None = None,
) -> dict[str, Any]:
    limit = check_limit(first, "first")
    entries = queries.list_transcripts(
        request.workspace,
        source["id"],
        model=model,
        prompt_id=prompt_id,
        scenario_id=scenario_id,
        limit=limit,
        cursor=check_cursor(after),
        now=request.now,
    )
    return connection(fill_page(entries, limit).map(lambda view: Loaded(TranscriptResponse.of(view))))


@resolves("Run.events", "listRunEvents", 1)
def run_events(request: Request, source: Loaded, limit: int, after: int) -> Page[Loaded]:
    if not 0 <= after <= _MAX_SEQ:
        raise Invalid.field("after", f"must be from 0 to {_MAX_SEQ}")
    page = slice_page(events.list_after(RunRef(request.workspace, source["id"]), after), check_limit(limit), None)
    return page.map(lambda each: Loaded(RunEventResponse.from_value(each, run_id=source["id"])))


@resolves("RunStarted.run", "createRun", 0)
async def started_run(_: Request, source: Loaded) -> Loaded:
    return Loaded.of(source["run"], source.origin)


@resolves("RunStarted.id", "createRun", 0)
async def started_id(_: Request, source: Loaded) -> Any:
    return source["run"]["id"]


@resolves("RunStarted.status", "createRun", 0)
async def started_status(_: Request, source: Loaded) -> Any:
    return source["run"]["status"]


@resolves("RunStarted.progress", "createRun", 0)
async def started_progress(_: Request, source: Loaded) -> Any:
    return source["run"]["progress"]


@resolves("Transcript.run", "getRun")
async def transcript_run(request: Request, source: Loaded) -> Loaded | None:
    found: Loaded | None = await request.load.run.load(source["runId"])
    return found
