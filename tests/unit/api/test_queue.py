"""Provider queues over HTTP: their status, pausing, dead letters."""

from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.ids import new_id
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Priority, Run
from cupel_core.providers import PROVIDERS
from cupel_core.store import barrier, dead_letters, governor, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.dead_letters import StoredDeadLetter
from tests.recorded_outcomes import count_outcomes
from tests.started_runs import NOW, RunSetup, ref_of, slice_message
from tests.unit.api.client import Client

IDLE = {
    "pending": 0,
    "granted": 0,
    "deadLetters": 0,
    "paused": False,
    "throttledUntil": None,
    "limit": None,
    "learnedLimit": None,
    "workers": 0,
    "suspendedModels": [],
}


def die(run: Run, indexes: list[int]) -> None:
    """Store a dead letter, as the sweeper does."""
    letter = StoredDeadLetter(new_id("msg"), "sim", Priority.NORMAL, 5, slice_message(run, indexes))
    dead_letters.save(letter, utc_now())


def queue_of(client: Client, provider: str, **options: Any) -> dict[str, Any]:
    (item,) = client.get("/v1/queue", query={"provider": provider}, **options).json()["items"]
    queue: dict[str, Any] = item
    return queue


def paused(client: Client, **options: Any) -> set[str]:
    return {item["provider"] for item in client.get("/v1/queue", **options).json()["items"] if item["paused"]}


def test_every_provider_has_a_queue(client: Client) -> None:
    answer = client.get("/v1/queue").json()
    assert answer == {"items": [{"provider": name, **IDLE} for name in PROVIDERS], "nextCursor": None}


def test_the_counts_are_those_of_the_workspace(client: Client, stranger: str) -> None:
    run = RunSetup(workspace="acme", scenario_count=130, models=("sim/steady", "openai/gpt-5-mini")).start()
    count_outcomes(Tree.for_run(run), Node(0, 1), {129: True, 130: True, 131: False})
    die(run, [1, 2])
    found = {name: (queue_of(client, name)["pending"], queue_of(client, name)["deadLetters"]) for name in PROVIDERS}
    assert {name: counts for name, counts in found.items() if any(counts)} == {"sim": (129, 1), "openai": (128, 0)}
    assert queue_of(client, "sim", token=stranger) == {"provider": "sim", **IDLE}


def test_the_counts_omit_runs_that_are_paused(client: Client) -> None:
    run = RunSetup(workspace="acme").start()
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    assert queue_of(client, "sim")["pending"] == 0


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


def test_a_dead_letter_is_listed_for_its_workspace_only(client: Client, stranger: str) -> None:
    run = RunSetup(workspace="acme").start()
    barrier.note_error(ref_of(run), Node(0, 0), "no such snapshot")
    die(run, [1, 2])
    (letter,) = client.get("/v1/queue/dead-letters").json()["items"]
    assert letter.pop("messageId")
    assert letter.pop("receivedCount") == 5
    assert letter == {
        "provider": "sim",
        "priority": "NORMAL",
        "runId": run.id,
        "indexes": [1, 2],
        "cause": "no such snapshot",
    }
    assert client.get("/v1/queue/dead-letters", token=stranger).json()["items"] == []


def test_a_redrive_reports_what_became_of_the_dead_letters(client: Client) -> None:
    run = RunSetup(workspace="acme").start()
    die(run, [1, 2])
    answer = client.post("/v1/queue/dead-letters/redrive", {"provider": "sim"})
    assert (answer.status, answer.json()) == (
        200,
        {"sent": 1, "dropped": 0, "runsToRetry": [], "unknownMessageIds": []},
    )
    assert client.get("/v1/queue/dead-letters").json()["items"] == []


def test_a_redrive_names_unknown_messages_and_redrives_the_others(client: Client) -> None:
    run = RunSetup(workspace="acme").start()
    die(run, [1])
    (letter,) = client.get("/v1/queue/dead-letters").json()["items"]
    answer = client.post("/v1/queue/dead-letters/redrive", {"messageIds": ["nope", letter["messageId"]]})
    assert (answer.json()["sent"], answer.json()["unknownMessageIds"]) == (1, ["nope"])


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
