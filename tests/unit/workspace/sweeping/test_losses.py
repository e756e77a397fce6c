"""Work resumes at once when all messages, executions and workers from before a moment are known to be lost."""

from collections.abc import Sequence
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest

from cupel_core.analysis import comparisons
from cupel_core.base.clock import to_iso, utc_now
from cupel_core.base.messages import JobRequest, RunRef
from cupel_core.definitions import catalog
from cupel_core.definitions.generation.generations import generation_request, start_generation
from cupel_core.domain.analysis.comparison_requests import ComparisonSpec, SideSpec
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.generations import GenerationMode, GenerationSpec
from cupel_core.domain.resources.webhooks import CallbackScope
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.scoring.rescores import Rescore, RescoreConfig
from cupel_core.runs import dispatch
from cupel_core.store import active_runs, barrier, callbacks, executions, generations, jobs, outbox, queues, rescores
from cupel_core.store import runs as stored_runs
from cupel_core.store.barrier import Tree
from cupel_core.store.executions import RestartResult
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.losses import resume_lost
from tests.answered_runs import AnsweredRun
from tests.compared_runs import run_of
from tests.lambda_context import Context
from tests.recorded_outcomes import count_outcomes
from tests.started_runs import NOW, RunSetup, dispatch_request, receive_bodies, ref_of, slice_message

LOST_BEFORE = NOW + timedelta(seconds=5)
STARTED = NOW + timedelta(seconds=8)


def plenty() -> float:
    return 600.0


def resumed() -> dict[str, int]:
    """Return the counts of what was resumed, without zeros."""
    counts = resume_lost(LOST_BEFORE, STARTED, plenty)
    return {name: count for name, count in counts.items() if count}


def interrupted(cloud: Settings, setup: RunSetup) -> Run:
    """A run whose slices were sent and lost."""
    run = setup.start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    while lost := queues.receive(cloud.probe_queue_url("sim"), 10):
        queues.delete(lost)
    return stored_runs.transition(ref_of(run), Action.START, NOW)


def claim(run: Run, since: float, index: int, name: str = "worker") -> Sequence[int]:
    """Claim a probe for 30 s; returns it if it was claimed before by a worker whose claim has ended."""
    offset = frozenset({index % 100})
    node = Node(0, index // 100)
    return barrier.acquire(ref_of(run), node, name, Claim(offset, since + 30, since), [index], since).expired


def test_a_run_is_dispatched_at_once(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = interrupted(cloud, RunSetup(scenario_count=3))
    assert resumed() == {"redispatched": 1}
    assert receive_bodies(cloud.dispatch_queue_url) == [dispatch_request(run).to_body()]


def test_messages_of_other_runs_in_its_queue_do_not_matter(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    interrupted(cloud, RunSetup(scenario_count=3))
    other = RunSetup(workspace="ws_b", created_at=STARTED).start()
    outbox.remove(dispatch_request(other))
    queues.send(cloud.probe_queue_url("sim"), [slice_message(other, [0])])
    assert resumed() == {"redispatched": 1}


def test_a_run_that_was_noted_as_silent_is_dispatched_once(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = interrupted(cloud, RunSetup(scenario_count=3))
    active_runs.set_silent_since(ref_of(run), NOW)
    assert [resumed(), resumed()] == [{"redispatched": 1}, {}]


def test_a_run_that_was_started_since_then_is_left_alone(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    interrupted(cloud, RunSetup(scenario_count=3, created_at=LOST_BEFORE))
    assert resumed() == {}


def test_a_paused_run_stays_paused(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = interrupted(cloud, RunSetup(scenario_count=3))
    stored_runs.transition(ref_of(run), Action.PAUSE, NOW)
    receive_bodies(cloud.dispatch_queue_url)
    assert resumed() == {}


def test_a_dispatch_that_was_not_completed_is_sent_once(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=3).start()
    assert resumed() == {"dispatched": 1}
    assert receive_bodies(cloud.dispatch_queue_url) == [dispatch_request(run).to_body()]


def test_a_run_whose_execution_was_lost_is_finished(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = interrupted(cloud, RunSetup(scenario_count=3))
    count_outcomes(Tree.for_run(run), Node(0, 0), dict.fromkeys(range(3), True))
    monkeypatch.setattr(executions, "ensure_finish_running", lambda *_: RestartResult.STARTED)
    assert resumed() == {"finish-started": 1}


@pytest.mark.parametrize("repeats", [1, 50, 3_400])
def test_the_claims_of_dead_workers_end(cloud: Settings, finish_starts: list[tuple[str, int]], repeats: int) -> None:
    run = interrupted(cloud, RunSetup(scenario_count=3, repeats=repeats))
    outbox.remove(dispatch_request(run))
    last = run.plan.total - 1
    claim(run, NOW.timestamp(), last)
    resumed()
    assert claim(run, STARTED.timestamp(), last, "new worker") == (last,)


def test_the_claims_of_workers_that_were_started_since_then_stand(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = interrupted(cloud, RunSetup(scenario_count=3))
    claim(run, LOST_BEFORE.timestamp(), 0)
    resumed()
    assert claim(run, STARTED.timestamp(), 0, "new worker") == ()


def a_job(cloud: Settings) -> JobRequest:
    """A job whose message is lost."""
    first, second = (run_of("def_shared", passes) for passes in ("+", "-"))
    view, _ = comparisons.request("acme", ComparisonSpec(SideSpec(first.id), SideSpec(second.id)), NOW)
    receive_bodies(cloud.analyze_queue_url)
    return JobRequest(workspace="acme", job_id=view.comparison.job_id)


def test_a_job_whose_worker_is_dead_goes_to_the_next_one(cloud: Settings) -> None:
    request = a_job(cloud)
    jobs.claim(request, NOW, NOW + timedelta(minutes=15))
    assert resumed()["jobs"] == 1
    assert receive_bodies(cloud.analyze_queue_url)[-1] == request.to_body()
    assert jobs.claim(request, STARTED, STARTED + timedelta(minutes=15)) is not None


def test_a_job_that_a_worker_has_taken_since_then_stays_with_it(cloud: Settings) -> None:
    request = a_job(cloud)
    jobs.claim(request, LOST_BEFORE, NOW + timedelta(minutes=15))
    resumed()
    assert jobs.claim(request, STARTED, STARTED + timedelta(minutes=15)) is None


def test_a_message_that_was_sent_again_is_not_lost(cloud: Settings) -> None:
    a_job(cloud)
    assert [resumed().get("jobs") for _ in range(2)] == [1, None]


def test_a_generation_whose_consumer_is_dead_goes_to_the_next_one(cloud: Settings) -> None:
    dimension = {"name": "stakes", "levels": [{"score": 1, "label": "low"}, {"score": 2, "label": "high"}]}
    content: dict[str, Any] = {"template": "Rate [stakes].", "dimensions": [dimension]}
    definition = catalog.create("ws_a", Labels("rated"), content, NOW)
    spec = GenerationSpec(GenerationMode.LLM, model="sim/steady")
    request = generation_request(start_generation("ws_a", definition.head.id, spec, NOW))
    receive_bodies(cloud.generate_queue_url)
    generations.claim(request, NOW, NOW + timedelta(minutes=5))
    assert resumed() == {"generations": 1}
    assert receive_bodies(cloud.generate_queue_url)[-1] == request.to_body()
    assert generations.claim(request, STARTED, STARTED + timedelta(minutes=5)) is not None


def test_a_new_rescore_without_execution_is_started(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    run = AnsweredRun().completed()
    rescores.create(Rescore(run.workspace, run.id, "rsc_1", RescoreConfig(), 2, 2, 1, NOW))
    started: list[tuple[RunRef, str]] = []

    def ensure(ref: RunRef, rescore_id: str) -> RestartResult:
        started.append((ref, rescore_id))
        return RestartResult.STARTED

    monkeypatch.setattr(executions, "ensure_rescore_running", ensure)
    assert resumed()["rescores"] == 1
    assert started == [(ref_of(run), "rsc_1")]


def a_reported_run(cloud: Settings) -> Run:
    """A paused run with an event that its workspace's webhook has not received, and whose message is lost."""
    run = RunSetup(callbacks=CallbackScope.RUNS).start()
    stored_runs.transition(ref_of(run), Action.PAUSE, NOW)
    receive_bodies(cloud.notify_queue_url)
    return run


def test_a_webhook_is_called_that_is_due(cloud: Settings) -> None:
    a_reported_run(cloud)
    assert resumed()["callbacks"] == 1
    assert len(receive_bodies(cloud.notify_queue_url)) == 1


def test_a_call_of_a_webhook_that_is_to_be_repeated_waits_until_it_is_due(cloud: Settings) -> None:
    callbacks.postpone(ref_of(a_reported_run(cloud)), STARTED + timedelta(minutes=10), attempts=3)
    assert resumed()["callbacks"] == 1
    assert queues.get_depth(cloud.notify_queue_url).delayed == 1


def test_a_call_of_a_webhook_that_is_due_much_later_is_left_to_the_regular_sweeps(cloud: Settings) -> None:
    callbacks.postpone(ref_of(a_reported_run(cloud)), STARTED + timedelta(hours=1), attempts=9)
    assert "callbacks" not in resumed()


def test_the_function_resumes_what_was_lost_before_the_moment_of_its_event(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    interrupted(cloud, RunSetup(scenario_count=3, created_at=utc_now()))
    event = {"lostBefore": to_iso(utc_now() + timedelta(seconds=1))}
    counts = import_module("sweep.app").handler(event, Context())
    assert {name for name, count in counts.items() if count} == {"redispatched"}


def test_the_function_waits_for_certainty_without_such_a_moment(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    interrupted(cloud, RunSetup(scenario_count=3, created_at=utc_now()))
    assert import_module("sweep.app").handler({}, Context())["redispatched"] == 0
