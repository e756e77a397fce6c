import pytest

from cupel_core.base.errors import Conflict, Invalid
from cupel_core.base.messages import ProbeSlice
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.run import Action, Progress, Run, RunFailure, RunStatus
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.runs import continuation, control, dispatch, queries
from cupel_core.runs.record_outcomes import record
from cupel_core.store import attempts, barrier, events, runs, snapshots
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import count_outcomes, store_outcomes
from tests.started_runs import NOW, RunSetup, dispatch_request, receive_bodies, ref_of, slice_message


def plenty() -> float:
    return 600.0


def failed(run: Run, index: int) -> ProbeError:
    return ProbeError(index, "scn", run.models[0], ProbeErrorCode.AUTH, "bad key", 1, NOW)


def finish(run: Run) -> None:
    """Complete the probes that have no outcome."""
    tree = Tree.for_run(run)
    for number in range(-(-run.plan.total // FANOUT)):
        indexes = barrier.get_leaf(ref_of(run), Node(0, number)).leaf.missing(
            range(number * FANOUT, min(run.plan.total, (number + 1) * FANOUT))
        )
        barrier.propagate(tree, Node(0, number), count_outcomes(tree, Node(0, number), dict.fromkeys(indexes, True)))


def over(given: RunSetup, errored: set[int]) -> Run:
    """A completed run in which these probes are errored."""
    run = given.start()
    runs.transition(ref_of(run), Action.START, NOW)
    store_outcomes(run, 1, [failed(run, index) for index in errored])
    finish(run)
    runs.transition(ref_of(run), Action.SUMMARIZE, NOW, settled=barrier.get_progress(Tree.for_run(run)))
    return runs.transition(ref_of(run), Action.COMPLETE, NOW, completed_at=NOW)


def dispatched(run: Run, cloud: Settings) -> list[int]:
    """The probes that the run's dispatch sends."""
    receive_bodies(cloud.dispatch_queue_url)
    dispatch.execute(dispatch_request(run), NOW, plenty)
    slices = [ProbeSlice.model_validate_json(body) for body in receive_bodies(cloud.probe_queue_url("sim"))]
    return sorted(index for probe_slice in slices for index in probe_slice.indexes)


def test_pausing_twice_is_pausing_once(cloud: Settings) -> None:
    run = RunSetup().start()
    assert control.pause("ws_a", run.id, NOW) == control.pause("ws_a", run.id, NOW)
    assert runs.get(ref_of(run)).pause_reason == "user"
    assert len(events.list_after(ref_of(run), 0)) == 2


def test_resuming_a_run_dispatches_its_missing_probes(cloud: Settings) -> None:
    run = RunSetup().start()
    count_outcomes(Tree.for_run(run), Node(0, 0), {0: True, 5: False})
    control.pause("ws_a", run.id, NOW)
    assert dispatched(control.resume("ws_a", run.id, NOW), cloud) == [1, 2, 3, 4]


@pytest.mark.parametrize("steer", [control.pause, control.resume])
def test_a_cancelled_run_cannot_be_paused_or_resumed(cloud: Settings, steer: object) -> None:
    run = RunSetup().start()
    assert control.cancel("ws_a", run.id, NOW).completed_at == NOW
    with pytest.raises(Conflict, match="CANCELLED"):
        steer("ws_a", run.id, NOW)  # type: ignore[operator]


def test_a_retry_runs_the_errored_probes_again_and_corrects_the_counts(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = over(RunSetup(scenario_count=130), errored={3, 105})
    retried = continuation.retry("ws_a", run.id, NOW)
    assert (retried.status, retried.fencing_token, retried.settled) == (RunStatus.RUNNING, 2, None)
    assert dispatched(retried, cloud) == [3, 105]
    assert queries.progress(retried) == Progress(130, completed=128)
    finish_starts.clear()
    record(retried, 2, [failed(retried, 3)])
    assert finish_starts == []
    record(retried, 2, [failed(retried, 105)])
    assert finish_starts == [(run.id, 2)]
    assert queries.progress(retried) == Progress(130, completed=128, failed=2)


def test_a_retry_keeps_the_earlier_error_as_an_attempt(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = over(RunSetup(scenario_count=3), errored={1})
    dispatched(continuation.retry("ws_a", run.id, NOW), cloud)
    assert {
        index: [error.message for error in errors]
        for index, errors in attempts.list_attempts(ref_of(run), [0, 1, 2]).items()
    } == {1: ["bad key"]}


def test_a_repeated_dispatch_does_not_remove_new_errors(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = over(RunSetup(scenario_count=3), errored={1})
    retried = continuation.retry("ws_a", run.id, NOW)
    dispatched(retried, cloud)
    record(retried, 2, [failed(retried, 1)])
    control.pause("ws_a", run.id, NOW)
    resumed = control.resume("ws_a", run.id, NOW)
    assert dispatched(resumed, cloud) == []
    assert queries.progress(resumed) == Progress(3, completed=2, failed=1)


def test_a_retry_of_one_model_does_not_affect_the_others(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = over(RunSetup(scenario_count=4, models=("sim/steady", "sim/bold")), errored={1, 6})
    assert dispatched(continuation.retry("ws_a", run.id, NOW, model="sim/bold"), cloud) == [6]


def test_a_retry_of_one_probe_does_not_affect_the_others(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = over(RunSetup(scenario_count=4), errored={1, 2})
    assert dispatched(continuation.retry("ws_a", run.id, NOW, probe_index=2), cloud) == [2]


@pytest.mark.parametrize(("model", "index"), [(None, 0), ("sim/bold", None)])
def test_only_errors_are_retried(
    cloud: Settings, finish_starts: list[tuple[str, int]], model: str | None, index: int | None
) -> None:
    run = over(RunSetup(scenario_count=4, models=("sim/steady", "sim/bold")), errored={1})
    with pytest.raises(Conflict, match="COMPLETED"):
        continuation.retry("ws_a", run.id, NOW, model=model, probe_index=index)


def test_a_run_whose_finishing_failed_is_finished_again(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=3).start()
    runs.transition(ref_of(run), Action.START, NOW)
    finish(run)
    runs.transition(ref_of(run), Action.SUMMARIZE, NOW)
    runs.transition(ref_of(run), Action.FAIL, NOW, failure=RunFailure("summarize", "the judge's provider was down"))
    retried = continuation.retry("ws_a", run.id, NOW)
    assert dispatched(retried, cloud) == []
    assert (run.id, 2) in finish_starts


def test_a_run_that_is_not_over_is_not_retried(cloud: Settings) -> None:
    run = RunSetup().start()
    with pytest.raises(Conflict, match="PENDING"):
        continuation.retry("ws_a", run.id, NOW)


def test_an_expansion_keeps_existing_scenarios_and_sends_the_added_ones(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = over(RunSetup(scenario_count=120, sample_percentage=50), errored=set())
    before = snapshots.get(run.snapshot_key).scenario_positions
    expanded = continuation.expand("ws_a", run.id, 100, NOW)
    after = snapshots.get(expanded.snapshot_key).scenario_positions
    assert after[: len(before)] == before
    assert sorted(after) == list(range(120))
    assert dispatched(expanded, cloud) == list(range(60, 120))
    assert queries.progress(expanded) == Progress(120, completed=60)


@pytest.mark.parametrize("percentage", [50, 10, 101])
def test_an_expansion_must_increase_the_percentage(
    cloud: Settings, finish_starts: list[tuple[str, int]], percentage: int
) -> None:
    run = over(RunSetup(scenario_count=120, sample_percentage=50), errored=set())
    with pytest.raises(Invalid, match="samplePercentage"):
        continuation.expand("ws_a", run.id, percentage, NOW)


def test_a_run_of_every_scenario_cannot_be_expanded(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = over(RunSetup(scenario_count=2), errored=set())
    with pytest.raises(Invalid, match="the run has every scenario already"):
        continuation.expand("ws_a", run.id, 100, NOW)


def test_a_retried_probe_may_be_claimed_and_recorded_again(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = over(RunSetup(scenario_count=2), errored={0})
    retried = continuation.retry("ws_a", run.id, NOW)
    dispatched(retried, cloud)
    assert barrier.get_leaf(ref_of(retried), Node(0, 0)).leaf.recorded == {1}
    assert slice_message(retried, [0]).fencing_token == 2


def running(given: RunSetup, errored: set[int]) -> Run:
    """A running run in which these probes are errored, and no other has an outcome."""
    run = given.start()
    runs.transition(ref_of(run), Action.START, NOW)
    record(runs.get(ref_of(run)), 1, [failed(run, index) for index in errored])
    return runs.get(ref_of(run))


def test_errors_of_a_running_run_are_retried_with_its_missing_probes(cloud: Settings) -> None:
    run = running(RunSetup(), {2, 4})
    retried = continuation.retry("ws_a", run.id, NOW)
    assert (retried.status, retried.retry_round, retried.conversation_round) == (RunStatus.RUNNING, 2, 1)
    assert dispatched(retried, cloud) == [0, 1, 2, 3, 4, 5]
    assert len(attempts.list_attempts(ref_of(run), range(6))) == 2


def test_only_retried_probes_start_over_while_the_run_is_running(cloud: Settings) -> None:
    run = running(RunSetup(), {2, 4})
    retried = continuation.retry("ws_a", run.id, NOW, probe_index=4)
    dispatched(retried, cloud)
    leaf = barrier.get_leaf(ref_of(run), Node(0, 0))
    assert [leaf.round_of(offset, retried.conversation_round) for offset in (0, 2, 4)] == [1, 1, 2]
    assert leaf.leaf.failed == {2}


def test_a_worker_of_before_the_retry_still_records_its_transcripts(cloud: Settings) -> None:
    run = running(RunSetup(), {2})
    dispatched(continuation.retry("ws_a", run.id, NOW), cloud)
    store_outcomes(run, 1, [failed(run, 3)])
    count_outcomes(Tree.for_run(run), Node(0, 0), {0: True, 1: True})
    assert barrier.get_leaf(ref_of(run), Node(0, 0)).leaf.recorded == {0, 1}


def test_two_different_retries_before_the_dispatch_cover_every_error(cloud: Settings) -> None:
    run = running(RunSetup(), {2, 4, 5})
    continuation.retry("ws_a", run.id, NOW, probe_index=2)
    retried = continuation.retry("ws_a", run.id, NOW, probe_index=4)
    dispatched(retried, cloud)
    assert not barrier.get_leaf(ref_of(run), Node(0, 0)).leaf.failed


def test_errors_of_a_cancelled_run_are_not_retried(cloud: Settings) -> None:
    run = running(RunSetup(), {2})
    control.cancel("ws_a", run.id, NOW)
    with pytest.raises(Conflict, match="a cancelled run does not continue; start a new run"):
        continuation.retry("ws_a", run.id, NOW)
