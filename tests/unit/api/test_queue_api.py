"""The queues over HTTP: how they stand, pausing, dead letters."""

from typing import Any

import pytest

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Priority
from cupel_core.providers import PROVIDERS
from cupel_core.settings import Settings
from cupel_core.store import barrier, governor, queues
from tests.started_runs import Given, ref_of, slice_of
from tests.unit.api.client import Client

IDLE = {
    "waiting": 0,
    "inFlight": 0,
    "delayed": 0,
    "dead": 0,
    "paused": False,
    "throttledUntil": None,
    "limit": None,
    "learnedLimit": None,
    "workers": 0,
    "heldModels": [],
}


def standing(client: Client, provider: str, **options: Any) -> dict[str, Any]:
    (item,) = client.get("/v1/queue", query={"provider": provider}, **options).json()["items"]
    found: dict[str, Any] = item
    return found


def paused(client: Client, **options: Any) -> set[str]:
    return {item["provider"] for item in client.get("/v1/queue", **options).json()["items"] if item["paused"]}


def test_an_idle_queue_of_every_provider_is_told(client: Client) -> None:
    answer = client.get("/v1/queue").json()
    assert answer == {"items": [{"provider": name, **IDLE} for name in PROVIDERS], "nextCursor": None}


def test_messages_of_all_priorities_are_counted_by_how_they_stand(client: Client, cloud: Settings) -> None:
    run = Given(workspace="acme").start()
    for number, priority in enumerate(Priority):
        queues.send(cloud.probe_queue_url("sim", priority), [slice_of(run, [number])])
        queues.send(cloud.probe_dlq_url("sim", priority), [slice_of(run, [number])])
    queues.send(cloud.probe_queue_url("sim"), [slice_of(run, [4])], delay_seconds=60)
    queues.receive(cloud.probe_queue_url("sim", Priority.HIGH), 1)
    told = standing(client, "sim")
    assert (told["waiting"], told["inFlight"], told["delayed"], told["dead"]) == (2, 1, 1, 3)


def test_a_provider_is_paused_and_resumed(client: Client) -> None:
    told = client.post("/v1/queue/pause", {"provider": "openai"}).json()["items"]
    assert [(item["provider"], item["paused"]) for item in told] == [("openai", True)]
    assert paused(client) == {"openai"}
    client.post("/v1/queue/resume", {"provider": "openai"})
    assert paused(client) == set()


@pytest.mark.parametrize("body", [None, {}, {"provider": None}])
def test_all_providers_are_paused_and_resumed_at_once(client: Client, body: Any) -> None:
    client.post("/v1/queue/pause", body)
    assert paused(client) == set(PROVIDERS)
    client.post("/v1/queue/resume", body)
    assert paused(client) == set()


def test_a_pause_is_of_one_workspace(client: Client, stranger: str) -> None:
    client.post("/v1/queue/pause")
    assert paused(client, token=stranger) == set()
    assert not governor.standing("other", "sim").paused


def test_a_member_may_pause_and_a_viewer_may_only_look(client: Client, member: str, viewer: str) -> None:
    assert client.post("/v1/queue/pause", token=member).status == 200
    for path in ("pause", "resume", "dead/redrive"):
        assert client.post(f"/v1/queue/{path}", token=viewer).status == 403
    assert paused(client, token=viewer) == set(PROVIDERS)


def test_a_dead_letter_is_told_to_its_workspace_alone(client: Client, cloud: Settings, stranger: str) -> None:
    run = Given(workspace="acme").start()
    barrier.blame(ref_of(run), Node(0, 0), "no such snapshot")
    queues.send(cloud.probe_dlq_url("sim"), [slice_of(run, [1, 2])])
    (letter,) = client.get("/v1/queue/dead").json()["items"]
    assert letter.pop("messageId")
    assert letter.pop("receivedCount") >= 1
    assert letter == {
        "provider": "sim",
        "priority": "NORMAL",
        "runId": run.id,
        "indexes": [1, 2],
        "cause": "no such snapshot",
    }
    assert client.get("/v1/queue/dead", token=stranger).json()["items"] == []


def test_a_redrive_tells_what_became_of_the_letters(client: Client, cloud: Settings) -> None:
    run = Given(workspace="acme").start()
    queues.send(cloud.probe_dlq_url("sim"), [slice_of(run, [1, 2])])
    answer = client.post("/v1/queue/dead/redrive", {"provider": "sim"})
    assert (answer.status, answer.json()) == (200, {"sent": 1, "dropped": 0, "toRetry": []})
    assert client.get("/v1/queue/dead").json()["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("pause", {"provider": "acme"}, "provider"),
        ("resume", {"provider": 1}, "provider"),
        ("pause", {"colour": "blue"}, "colour"),
        ("dead/redrive", {"messageIds": []}, "messageIds"),
        ("dead/redrive", {"provider": "acme"}, "provider"),
    ],
)
def test_a_wrong_wish_is_named(client: Client, path: str, body: Any, field: str) -> None:
    answer = client.post(f"/v1/queue/{path}", body)
    assert (answer.status, answer.fields()) == (422, [field])


@pytest.mark.parametrize("path", ["/v1/queue", "/v1/queue/dead"])
def test_an_unknown_provider_is_refused(client: Client, path: str) -> None:
    assert client.get(path, query={"provider": "acme"}).fields() == ["provider"]
