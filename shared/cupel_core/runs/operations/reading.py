from typing import Annotated

from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.case_results import CaseResultsPage, CaseResultsResponse
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, Tagged, ToolGroup, operation
from cupel_core.contract.progress import DetailedProgressResponse
from cupel_core.contract.query import (
    Cursor,
    Limit,
    ModelFilter,
    Parameter,
    PromptFilter,
)
from cupel_core.contract.run_labels import UpdateRun
from cupel_core.contract.run_probes import ProbePage, ProbeResponse
from cupel_core.contract.runs import RunResponse
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.views import RunView
from cupel_core.runs import case_results, labels, progress, queries
from cupel_core.runs import probes as run_probes


@operation(
    "GET /v1/runs/{run_id}",
    "Get a run",
    role=VIEWER,
    returns="The run",
    tool=AsTool(
        ToolGroup.READ,
        (
            "id name status tags priority definitionId definitionName definitionVersion experimentId"
            " scenarioCount scenarioTotal progress spend.costUsd spend.budget pauseReason pauseCause"
            " failure createdAt startedAt completedAt durationMs config.targets config.promptIds"
            " config.samplePercentage config.sampleSeed config.repeats config.params config.maxTurns"
            " config.profileId config.judgeModel config.personaModel suspendedModels"
        ),
        is_default=True,
        max_kb=6,
        has_untrusted_texts=True,
    ),
)
def get_run(call: Call, run_id: str) -> Tagged[RunResponse]:
    return _tagged(queries.get_run(call.workspace, run_id, call.now))


@operation(
    "PATCH /v1/runs/{run_id}",
    "Change a run's name, tags and metadata, whatever its status",
    role=MEMBER,
    returns="The changed run",
    if_match=True,
)
def update_run(call: Call, run_id: str, body: UpdateRun) -> Tagged[RunResponse]:
    workspace, now = call.workspace, call.now
    labels.update_labels(workspace, run_id, body.labels(), now, call.precondition)
    return _tagged(queries.get_run(workspace, run_id, now))


@operation(
    "GET /v1/runs/{run_id}/progress",
    "Get how far each target of a run is, and what holds it up",
    role=VIEWER,
    returns="The progress of the run and of its targets",
)
def get_run_progress(call: Call, run_id: str) -> DetailedProgressResponse:
    """Takes a bounded number of reads for a run of any size, so that it may be called every few seconds."""
    return DetailedProgressResponse.of(progress.get_progress(call.workspace, run_id, call.now))


@operation(
    "GET /v1/runs/{run_id}/probes",
    "List the probes of a run, with their status and errors",
    role=VIEWER,
    returns="A page of probes, by index",
)
def list_run_probes(
    call: Call,
    run_id: str,
    status: Annotated[ProbeStatus | None, Parameter(description="Return only probes with this status")] = None,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[ProbePage]:
    entries = run_probes.list_probes(
        call.workspace,
        run_id,
        status=status,
        model=model,
        prompt_id=prompt_id,
        limit=limit,
        cursor=cursor,
        now=call.now,
    )
    return Listed(entries, ProbeResponse.of)


@operation(
    "GET /v1/runs/{run_id}/cases",
    "List the results of a run by case: a row per scenario and persona, a cell per target and prompt",
    role=VIEWER,
    returns="A page of cases, in the order of the run's scenarios",
)
def list_run_cases(
    call: Call,
    run_id: str,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[CaseResultsPage]:
    """A page may have fewer rows than `limit` if the run has many targets, prompts and repeats."""
    entries = case_results.list_cases(
        call.workspace, run_id, model=model, prompt_id=prompt_id, limit=limit, cursor=cursor
    )
    return Listed(entries, CaseResultsResponse.of)


def _tagged(view: RunView) -> Tagged[RunResponse]:
    return Tagged(RunResponse.of(view), labels.labels_etag(view.run))
