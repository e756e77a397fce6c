"""Probes of a retried run, newest first."""

from cupel_core.base.paging import fill_page
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.run import Action, ProbeStatus, Run
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.runs.views import ProbeView
from cupel_core.runs import continuation, dispatch, probe_search
from cupel_core.runs.record_outcomes import record
from cupel_core.store import barrier, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.started_runs import NOW, RunSetup, dispatch_request, ref_of


def error(run: Run, index: int, message: str) -> ProbeError:
    return ProbeError(index, "scn", run.models[0], ProbeErrorCode.AUTH, message, 1, NOW)


def failed_twice(scenario_count: int) -> Run:
    """Every probe failed, was retried, and failed again."""
    run = RunSetup(scenario_count=scenario_count).start()
    runs.transition(ref_of(run), Action.START, NOW)
    record(run, 1, [error(run, index, "first") for index in range(scenario_count)])
    runs.transition(ref_of(run), Action.FAIL, NOW, settled=barrier.get_progress(Tree.for_run(run)))
    retried = continuation.retry("ws_a", run.id, NOW)
    dispatch.execute(dispatch_request(retried), NOW, lambda: 600.0)
    record(retried, retried.fencing_token, [error(retried, index, "second") for index in range(scenario_count)])
    return retried


def test_the_errors_of_retried_runs_are_listed_newest_first_with_their_attempts(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    older, newer = failed_twice(5), failed_twice(3)
    found, cursor = list[ProbeView](), None
    while True:
        entries = probe_search.search_probes(
            "ws_a", probe_search.ProbeFilter(status=ProbeStatus.ERROR), NOW, limit=2, cursor=cursor
        )
        page = fill_page(entries, 2)
        found += page.items
        if (cursor := page.next_cursor) is None:
            break
    assert [(view.run.id, view.index) for view in found] == [
        *((newer.id, index) for index in (2, 1, 0)),
        *((older.id, index) for index in (4, 3, 2, 1, 0)),
    ]
    assert {tuple(error.message for error in view.attempts) for view in found} == {("first",)}
