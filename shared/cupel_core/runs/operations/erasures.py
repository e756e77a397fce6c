from time import monotonic

from cupel_core.contract.deletions import DeleteDefinitions, DeleteProbeContents, DeleteRuns, DeletionListResponse
from cupel_core.contract.operation import ADMIN, MEMBER, AsTool, Call, ToolGroup, operation
from cupel_core.definitions import catalog
from cupel_core.runs import erasure
from cupel_core.runs.bulk_deletion import delete_each

_ERASE_SECONDS = 15.0
"""The request hides runs for this long before the response. The sweeper hides the others within a minute."""


@operation(
    "POST /v1/definitions/{definition_id}/erase",
    "Erase a definition with its scenarios, its runs and everything said in them",
    role=ADMIN,
    returns="Unreadable from now on, and erased within a day",
)
def erase_definition(call: Call, definition_id: str) -> None:
    """A definition that was deleted before can be erased, too. 409 while it has forks, which use its versions."""
    until = monotonic() + _ERASE_SECONDS
    erasure.erase_definition(call.workspace, definition_id, call.now, lambda: monotonic() < until)


@operation(
    "DELETE /v1/probes/{probe_id}/content",
    "Delete the content of a probe's conversation; keep the probe and its result",
    role=MEMBER,
    returns="Deleted",
)
def delete_probe_content(call: Call, probe_id: str) -> None:
    erasure.delete_probe_content(call.workspace, probe_id, call.now)


@operation(
    "POST /v1/probes/bulk-delete-content",
    "Delete the content of up to 100 probes' conversations; keep the probes and their results",
    role=MEMBER,
    returns="For each probe, whether its content was deleted",
)
def delete_probe_contents(call: Call, body: DeleteProbeContents) -> DeletionListResponse:
    """Always 200: each id has a result of its own, and may be sent again."""
    workspace, now = call.workspace, call.now
    return delete_each(body.ids, lambda probe_id: erasure.delete_probe_content(workspace, probe_id, now))


@operation(
    "DELETE /v1/runs/{run_id}", "Delete a run", role=MEMBER, returns="Deleted", tool=AsTool(ToolGroup.RUNS, max_kb=1)
)
def delete_run(call: Call, run_id: str) -> None:
    erasure.delete_run(call.workspace, run_id, call.now)


@operation(
    "POST /v1/runs/bulk-delete", "Delete up to 100 runs", role=MEMBER, returns="For each run, whether it was deleted"
)
def delete_runs(call: Call, body: DeleteRuns) -> DeletionListResponse:
    """Always 200: each id has a result of its own, and may be sent again."""
    return delete_each(body.ids, lambda run_id: erasure.delete_run(call.workspace, run_id, call.now))


@operation(
    "POST /v1/definitions/bulk-delete",
    "Delete up to 100 definitions; keep their runs and forks",
    role=MEMBER,
    returns="For each definition, whether it was deleted",
)
def delete_definitions(call: Call, body: DeleteDefinitions) -> DeletionListResponse:
    """Always 200: each id has a result of its own, and may be sent again."""
    workspace, now = call.workspace, call.now
    return delete_each(body.ids, lambda definition_id: catalog.delete(workspace, definition_id, now))
