"""Steering runs over HTTP: what each call answers, and how it refuses."""

from typing import Any

import pytest

from cupel_core.clock import utc_now
from cupel_core.domain.limits.breaker import Call
from cupel_core.domain.limits.governor import Limits, Report
from cupel_core.domain.runs.barrier import leaf_of
from cupel_core.domain.runs.run import Action, Priority, Progress
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.messages import RunRef
from cupel_core.settings import Settings
from cupel_core.store import barrier, governor, outcomes, runs
from cupel_core.store.barrier import Tree
from tests.started_runs import NOW, Given, waiting
from tests.unit.api.client import Answer, Client

STEERING = ["pause", "resume", "cancel", "retry", "expand"]


@pytest.fixture
def run_id(client: Client) -> str:
    return Given(scenario_count=4, workspace="acme").start().id


def steer(client: Client, run_id: str, action: str, body: Any = None, **options: Any) -> Answer:
    return client.post(f"/v1/runs/{run_id}/{action}", body, **options)


def end(run_id: str, errored: set[int]) -> RunRef:
    """The run is over; these of its four probes errored."""
    ref = RunRef("acme", run_id)
    moved = runs.move(ref, Action.START, NOW)
    errors = [ProbeError(index, f"scn_{index}", "sim/steady", ErrorCode.TIMEOUT, "late", 4, NOW) for index in errored]
    if errors:
        outcomes.record(moved, moved.epoch, errors)
    barrier.record(Tree.of(moved), leaf_of(0), {index: index not in errored for index in range(4)})
    runs.move(ref, Action.SUMMARIZE, NOW)
    runs.move(ref, Action.COMPLETE, NOW, settled=Progress(4, 4 - len(errored), len(errored)), completed_at=NOW)
    return ref


def test_a_paused_run_is_answered_and_says_by_whom(client: Client, run_id: str) -> None:
    answer = steer(client, run_id, "pause")
    assert (answer.status, answer.json()["status"], answer.json()["pauseReason"]) == (200, "PAUSED", "by a person")


def test_pausing_twice_changes_nothing(client: Client, run_id: str) -> None:
    first, second = (steer(client, run_id, "pause").json() for _ in range(2))
    assert (first["epoch"], first["updatedAt"]) == (second["epoch"], second["updatedAt"])


def test_a_resumed_run_runs_and_is_dispatched(client: Client, cloud: Settings, run_id: str) -> None:
    steer(client, run_id, "pause")
    told = steer(client, run_id, "resume").json()
    assert (told["status"], told["pauseReason"]) == ("RUNNING", None)
    assert f'"runId":"{run_id}","epoch":{told["epoch"]}' in waiting(cloud.dispatch_queue_url)[-1]


def test_a_cancelled_run_is_completed_at_that_time(client: Client, run_id: str) -> None:
    told = steer(client, run_id, "cancel").json()
    assert told["status"] == "CANCELLED"
    assert told["completedAt"] == told["updatedAt"]


@pytest.mark.parametrize("action", ["pause", "resume", "retry"])
def test_a_refused_move_tells_the_current_status(client: Client, run_id: str, action: str) -> None:
    steer(client, run_id, "cancel")
    answer = steer(client, run_id, action)
    assert (answer.status, answer.json()["title"]) == (409, "Conflict")
    assert "CANCELLED" in answer.json()["detail"]


def test_a_run_that_goes_on_cannot_be_retried_or_expanded(client: Client, run_id: str) -> None:
    assert steer(client, run_id, "retry").status == 409
    assert steer(client, run_id, "expand", {"samplePercentage": 100}).status in (409, 422)


@pytest.mark.parametrize("body", [None, {}, {"model": "sim/steady"}, {"probeIndex": 2}])
def test_errored_probes_run_again(client: Client, run_id: str, body: Any) -> None:
    end(run_id, errored={2})
    answer = steer(client, run_id, "retry", body)
    assert (answer.status, answer.json()["status"], answer.json()["completedAt"]) == (200, "RUNNING", None)


def test_without_an_errored_probe_there_is_nothing_to_retry(client: Client, run_id: str) -> None:
    end(run_id, errored=set())
    answer = steer(client, run_id, "retry")
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
def test_a_wrong_wish_is_named(client: Client, run_id: str, action: str, body: Any, field: str) -> None:
    end(run_id, errored={2})
    answer = steer(client, run_id, action, body)
    assert (answer.status, answer.fields()) == (422, [field])


@pytest.mark.parametrize("action", STEERING)
def test_a_viewer_steers_nothing(client: Client, run_id: str, viewer: str, action: str) -> None:
    assert steer(client, run_id, action, token=viewer).status == 403
    assert runs.get(RunRef("acme", run_id)).epoch == 1


@pytest.mark.parametrize("action", STEERING)
def test_a_run_of_another_workspace_is_not_found(client: Client, run_id: str, stranger: str, action: str) -> None:
    body = {"samplePercentage": 50} if action == "expand" else None
    assert steer(client, run_id, action, body, token=stranger).status == 404
    assert runs.get(RunRef("acme", run_id)).epoch == 1


def test_a_run_tells_which_of_its_models_are_held(client: Client, run_id: str) -> None:
    now = utc_now().timestamp()
    refused = tuple(Call("sim/steady", ErrorCode.AUTH, now) for _ in range(5))
    report = Report("worker", Priority.NORMAL, wanted=1, in_flight=0, calls=refused)
    governor.renew("acme", "sim", Limits(50), report, now)
    (held,) = client.get(f"/v1/runs/{run_id}").json()["heldModels"]
    assert held["model"] == "sim/steady"
    assert "auth" in held["reason"]


def test_a_run_does_not_tell_of_models_that_are_not_its_own(client: Client, run_id: str) -> None:
    now = utc_now().timestamp()
    refused = tuple(Call("sim/bold", ErrorCode.AUTH, now) for _ in range(5))
    governor.renew("acme", "sim", Limits(50), Report("worker", Priority.NORMAL, 1, 0, calls=refused), now)
    assert client.get(f"/v1/runs/{run_id}").json()["heldModels"] == []
