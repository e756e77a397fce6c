"""Control of runs over HTTP: what each call returns, and how it refuses."""

from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import CallRecord
from cupel_core.domain.limits.governor import Limits, WorkerReport
from cupel_core.domain.runs.barrier import leaf_of
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import Action, Priority, Progress
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.store import barrier, governor, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import count_outcomes, store_outcomes
from tests.started_runs import NOW, RunSetup, receive_bodies
from tests.unit.api.client import Answer, Client

CONTROLS = ["pause", "resume", "cancel", "retry", "expand"]


@pytest.fixture
def run_id(client: Client) -> str:
    return RunSetup(scenario_count=4, workspace="acme").start().id


def control(client: Client, run_id: str, action: str, body: Any = None, **options: Any) -> Answer:
    return client.post(f"/v1/runs/{run_id}/{action}", body, **options)


def end(run_id: str, errored: set[int]) -> RunRef:
    """The run is over; these of its four probes errored."""
    ref = RunRef("acme", run_id)
    moved = runs.transition(ref, Action.START, NOW)
    errors = [
        ProbeError(index, f"scn_{index}", "sim/steady", ProbeErrorCode.TIMEOUT, "late", 4, NOW) for index in errored
    ]
    if errors:
        store_outcomes(moved, moved.fencing_token, errors)
    count_outcomes(Tree.for_run(moved), leaf_of(0), {index: index not in errored for index in range(4)})
    runs.transition(ref, Action.SUMMARIZE, NOW)
    runs.transition(ref, Action.COMPLETE, NOW, settled=Progress(4, 4 - len(errored), len(errored)), completed_at=NOW)
    return ref


def test_a_paused_run_has_its_pause_reason(client: Client, run_id: str) -> None:
    answer = control(client, run_id, "pause")
    assert (answer.status, answer.json()["status"], answer.json()["pauseReason"]) == (200, "PAUSED", "user")


@pytest.mark.parametrize("action", ["pause", "cancel"])
def test_a_stopped_run_says_how_many_calls_are_in_flight(client: Client, run_id: str, action: str) -> None:
    claim = Claim(frozenset({0, 1, 2}), 2e10, 0.0, {0: 1.0, 2: 2.0})
    barrier.acquire(RunRef("acme", run_id), leaf_of(0), "worker", claim, [0, 1, 2], 0.0)
    assert control(client, run_id, action).json()["callsInFlight"] == 2


def test_pausing_twice_changes_nothing(client: Client, run_id: str) -> None:
    first, second = (control(client, run_id, "pause").json() for _ in range(2))
    assert first["updatedAt"] == second["updatedAt"]
    assert runs.get(RunRef("acme", run_id)).fencing_token == 2


def test_a_resumed_run_runs_and_is_dispatched(client: Client, cloud: Settings, run_id: str) -> None:
    control(client, run_id, "pause")
    run = control(client, run_id, "resume").json()
    assert (run["status"], run["pauseReason"]) == ("RUNNING", None)
    assert f'"runId":"{run_id}","fencingToken":3' in receive_bodies(cloud.dispatch_queue_url)[-1]


def test_a_cancelled_run_is_completed_at_that_time(client: Client, run_id: str) -> None:
    run = control(client, run_id, "cancel").json()
    assert run["status"] == "CANCELLED"
    assert run["completedAt"] == run["updatedAt"]


@pytest.mark.parametrize("action", ["pause", "resume", "retry"])
def test_a_refused_transition_names_the_current_status(client: Client, run_id: str, action: str) -> None:
    control(client, run_id, "cancel")
    answer = control(client, run_id, action)
    assert (answer.status, answer.json()["title"]) == (409, "Conflict")
    assert "CANCELLED" in answer.json()["detail"]


def test_an_active_run_cannot_be_retried_or_expanded(client: Client, run_id: str) -> None:
    assert control(client, run_id, "retry").status == 409
    assert control(client, run_id, "expand", {"samplePercentage": 100}).status in (409, 422)


@pytest.mark.parametrize("body", [None, {}, {"model": "sim/steady"}, {"probeIndex": 2}])
def test_errored_probes_run_again(client: Client, run_id: str, body: Any) -> None:
    end(run_id, errored={2})
    answer = control(client, run_id, "retry", body)
    assert (answer.status, answer.json()["status"], answer.json()["completedAt"]) == (200, "RUNNING", None)


def test_without_an_errored_probe_there_is_nothing_to_retry(client: Client, run_id: str) -> None:
    end(run_id, errored=set())
    answer = control(client, run_id, "retry")
    assert (answer.status, "COMPLETED" in answer.json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    ("action", "body", "field"),
    [
        ("retry", {"model": "sim/bold"}, "model"),
        ("retry", {"probeIndex": 4}, "probeIndex"),
        ("retry", {"probeIndex": -1}, "probeIndex"),
        ("retry", {"probeIndex": "1"}, "probeIndex"),
        ("retry", {"colour": "blue"}, "colour"),
        ("expand", {}, "samplePercentage"),
        ("expand", {"samplePercentage": 100}, "samplePercentage"),
        ("expand", {"samplePercentage": 101}, "samplePercentage"),
    ],
)
def test_an_invalid_field_is_named(client: Client, run_id: str, action: str, body: Any, field: str) -> None:
    end(run_id, errored={2})
    answer = control(client, run_id, action, body)
    assert (answer.status, answer.fields()) == (422, [field])


@pytest.mark.parametrize("action", CONTROLS)
def test_a_viewer_controls_nothing(client: Client, run_id: str, viewer: str, action: str) -> None:
    assert control(client, run_id, action, token=viewer).status == 403
    assert runs.get(RunRef("acme", run_id)).fencing_token == 1


@pytest.mark.parametrize("action", CONTROLS)
def test_a_run_of_another_workspace_is_not_found(client: Client, run_id: str, stranger: str, action: str) -> None:
    body = {"samplePercentage": 50} if action == "expand" else None
    assert control(client, run_id, action, body, token=stranger).status == 404
    assert runs.get(RunRef("acme", run_id)).fencing_token == 1


def test_a_run_lists_its_suspended_models(client: Client, run_id: str) -> None:
    now = utc_now().timestamp()
    refused = tuple(CallRecord("sim/steady", ProbeErrorCode.AUTH, now) for _ in range(5))
    report = WorkerReport("worker", Priority.NORMAL, demand=1, in_flight=0, calls=refused)
    governor.renew("acme", "sim", Limits(50), report, now)
    (suspended,) = client.get(f"/v1/runs/{run_id}").json()["suspendedModels"]
    assert suspended["model"] == "sim/steady"
    assert "auth" in suspended["reason"]


def test_a_run_does_not_list_models_of_other_runs(client: Client, run_id: str) -> None:
    now = utc_now().timestamp()
    refused = tuple(CallRecord("sim/bold", ProbeErrorCode.AUTH, now) for _ in range(5))
    governor.renew("acme", "sim", Limits(50), WorkerReport("worker", Priority.NORMAL, 1, 0, calls=refused), now)
    assert client.get(f"/v1/runs/{run_id}").json()["suspendedModels"] == []
