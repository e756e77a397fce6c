"""Provider queues over HTTP: their status, pausing, dead letters."""

from typing import Any

import pytest

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Priority
from cupel_core.providers import PROVIDERS
from cupel_core.settings import Settings
from cupel_core.store import barrier, governor, queues
from tests.started_runs import RunSetup, ref_of, slice_message
from tests.unit.api.client import Client

IDLE = {
    "waiting": 0,
    "inFlight": 0,
    "delayed": 0,
    "deadLetters": 0,
    "paused": False,
    "throttledUntil": None,
    "limit": None,
    "learnedLimit": None,
    "workers": 0,
    "suspendedModels": [],
}


def queue_of(client: Client, provider: str, **options: Any) -> dict[str, Any]:
    (item,) = client.get("/v1/queue", query={"provider": provider}, **options).json()["items"]
    queue: dict[str, Any] = item
    return queue


def paused(client: Client, **options: Any) -> set[str]:
    return {item["provider"] for item in client.get("/v1/queue", **options).json()["items"] if item["paused"]}


def test_every_provider_has_a_queue(client: Client) -> None:
    answer = client.get("/v1/queue").json()
    assert answer == {"items": [{"provider": name, **IDLE} for name in PROVIDERS], "nextCursor": None}


def test_messages_of_all_priorities_are_counted_by_status(client: Client, cloud: Settings) -> None:
    run = RunSetup(workspace="acme").start()
    for number, priority in enumerate(Priority):
        queues.send(cloud.probe_queue_url("sim", priority), [slice_message(run, [number])])
        queues.send(cloud.probe_dlq_url("sim", priority), [slice_message(run, [number])])
    queues.send(cloud.probe_queue_url("sim"), [slice_message(run, [4])], delay_seconds=60)
    queues.receive(cloud.probe_queue_url("sim", Priority.HIGH), 1)
    items = queue_of(client, "sim")
    assert (items["waiting"], items["inFlight"], items["delayed"], items["deadLetters"]) == (2, 1, 1, 3)


def test_a_provider_is_paused_and_resumed(client: Client) -> None:
    items = client.post("/v1/queue/pause", {"provider": "openai"}).json()["items"]
    assert [(item["provider"], item["paused"]) for item in items] == [("openai", True)]
    assert paused(client) == {"openai"}
    client.post("/v1/queue/resume", {"provider": "openai"})
    assert paused(client) == set()


@pytest.mark.parametrize("body", [None, {}, {"provider": None}])
def test_all_providers_are_paused_and_resumed_at_once(client: Client, body: Any) -> None:
    client.post("/v1/queue/pause", body)
    assert paused(client) == set(PROVIDERS)
    client.post("/v1/queue/resume", body)
    assert paused(client) == set()


def test_a_pause_is_limited_to_one_workspace(client: Client, stranger: str) -> None:
    client.post("/v1/queue/pause")
    assert paused(client, token=stranger) == set()
    assert not governor.get_status("other", "sim").paused


def test_a_member_may_pause_and_a_viewer_may_only_read(client: Client, member: str, viewer: str) -> None:
    assert client.post("/v1/queue/pause", token=member).status == 200
    for path in ("pause", "resume", "dead-letters/redrive"):
        assert client.post(f"/v1/queue/{path}", token=viewer).status == 403
    assert paused(client, token=viewer) == set(PROVIDERS)


def test_a_dead_letter_is_listed_for_its_workspace_only(client: Client, cloud: Settings, stranger: str) -> None:
    run = RunSetup(workspace="acme").start()
    barrier.note_error(ref_of(run), Node(0, 0), "no such snapshot")
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [1, 2])])
    (letter,) = client.get("/v1/queue/dead-letters").json()["items"]
    assert letter.pop("messageId")
    assert letter.pop("receivedCount") >= 1
    assert letter == {
        "provider": "sim",
        "priority": "NORMAL",
        "runId": run.id,
        "indexes": [1, 2],
        "cause": "no such snapshot",
    }
    assert client.get("/v1/queue/dead-letters", token=stranger).json()["items"] == []


def test_a_redrive_reports_what_became_of_the_dead_letters(client: Client, cloud: Settings) -> None:
    run = RunSetup(workspace="acme").start()
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [1, 2])])
    answer = client.post("/v1/queue/dead-letters/redrive", {"provider": "sim"})
    assert (answer.status, answer.json()) == (200, {"sent": 1, "dropped": 0, "runsToRetry": []})
    assert client.get("/v1/queue/dead-letters").json()["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("pause", {"provider": "acme"}, "provider"),
        ("resume", {"provider": 1}, "provider"),
        ("pause", {"colour": "blue"}, "colour"),
        ("dead-letters/redrive", {"messageIds": []}, "messageIds"),
        ("dead-letters/redrive", {"provider": "acme"}, "provider"),
    ],
)
def test_an_invalid_field_is_named(client: Client, path: str, body: Any, field: str) -> None:
    answer = client.post(f"/v1/queue/{path}", body)
    assert (answer.status, answer.fields()) == (422, [field])


@pytest.mark.parametrize("path", ["/v1/queue", "/v1/queue/dead-letters"])
def test_an_unknown_provider_is_refused(client: Client, path: str) -> None:
    assert client.get(path, query={"provider": "acme"}).fields() == ["provider"]
