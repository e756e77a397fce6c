"""Tickets by which a browser reads the events of one run."""

from datetime import timedelta
from fnmatch import fnmatch
from typing import Any

import pytest

from authorize import app as authorizer
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.domain.access import AccessRole
from cupel_core.store import clients
from cupel_core.store.settings import Settings
from cupel_core.store.table import connection
from cupel_core.workspace.access import event_tickets, tokens
from tests.lambda_context import Context
from tests.unit.api.client import Answer, Client, event
from tests.unit.test_template import functions

STREAM = {"Accept": "text/event-stream"}


def start_run(client: Client) -> str:
    created = client.post("/v1/definitions", {"name": "facts", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{created['id']}/scenarios", {"items": [{"prompt": "hello"}]})
    run = {"definitionId": created["id"], "models": ["sim/steady"]}
    return str(client.post("/v1/runs", run).json()["run"]["id"])


@pytest.fixture
def run_id(client: Client) -> str:
    return start_run(client)


@pytest.fixture
def ticket(client: Client, run_id: str, viewer: str) -> str:
    answer = client.post(f"/v1/runs/{run_id}/event-tickets", token=viewer)
    assert (answer.status, answer.headers["Location"]) == (201, f"/v1/runs/{run_id}/events")
    assert answer.json()["path"] == f"/v1/runs/{run_id}/events?ticket={answer.json()['ticket']}"
    return str(answer.json()["ticket"])


def read(client: Client, path: str, ticket: str, method: str = "GET", **headers: str) -> Answer:
    """A request without a token, as an EventSource sends it."""
    return Client(None).request(method, path, query={"ticket": ticket}, headers=STREAM | headers)


def test_a_ticket_reads_the_events_of_its_run_as_often_as_necessary(client: Client, run_id: str, ticket: str) -> None:
    for _ in range(2):
        answer = read(client, f"/v1/runs/{run_id}/events", ticket)
        assert (answer.status, "event: run.created" in answer.text) == (200, True)


def test_a_stream_with_a_ticket_continues_after_the_last_event(client: Client, run_id: str, ticket: str) -> None:
    answer = read(client, f"/v1/runs/{run_id}/events", ticket, **{"Last-Event-ID": "1"})
    assert (answer.status, "event: run.created" in answer.text) == (200, False)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/runs/{}"), ("GET", "/v1/runs"), ("POST", "/v1/runs/{}/pause"), ("DELETE", "/v1/runs/{}/events")],
)
def test_a_ticket_permits_nothing_else(client: Client, run_id: str, ticket: str, method: str, path: str) -> None:
    assert read(client, path.format(run_id), ticket, method).status == 401


def test_a_ticket_does_not_read_the_events_of_another_run(client: Client, ticket: str) -> None:
    assert read(client, f"/v1/runs/{start_run(client)}/events", ticket).status == 401


def test_an_expired_ticket_is_unauthorized(client: Client, run_id: str) -> None:
    expired = event_tickets.issue(RunRef("acme", run_id), "tok_1", utc_now() - event_tickets.LIFETIME)
    almost = event_tickets.issue(
        RunRef("acme", run_id), "tok_1", utc_now() - event_tickets.LIFETIME + timedelta(seconds=30)
    )
    answer = read(client, f"/v1/runs/{run_id}/events", expired.secret)
    assert (answer.status, answer.headers["Content-Type"]) == (401, "application/problem+json")
    assert "expired" in answer.json()["detail"]
    assert read(client, f"/v1/runs/{run_id}/events", almost.secret).status == 200


def test_a_ticket_ends_when_its_token_is_revoked(client: Client, run_id: str) -> None:
    made = client.post("/v1/tokens", {"name": "page", "role": "viewer"}).json()
    ticket = client.post(f"/v1/runs/{run_id}/event-tickets", token=made["token"]).json()["ticket"]
    assert read(client, f"/v1/runs/{run_id}/events", ticket).status == 200
    client.delete(f"/v1/tokens/{made['id']}")
    answer = read(client, f"/v1/runs/{run_id}/events", ticket)
    assert (answer.status, "revoked" in answer.json()["detail"]) == (401, True)


def test_a_ticket_ends_when_its_token_expires(client: Client, run_id: str) -> None:
    yesterday = utc_now() - timedelta(days=1)
    token = tokens.issue("acme", AccessRole.VIEWER, "page", yesterday, utc_now() - timedelta(seconds=1))
    ticket = event_tickets.issue(RunRef("acme", run_id), token.token_id, utc_now())
    assert read(client, f"/v1/runs/{run_id}/events", ticket.secret).status == 401


def test_the_authorizer_reads_only_the_items_that_its_policy_allows(run_id: str, ticket: str) -> None:
    [statement, _] = functions()["authorize"]["Policies"][-1]["Statement"]
    [pattern] = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    read_keys: list[str] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        read_keys.append(params["Key"]["pk"]["S"])

    read_item, events = "before-parameter-build.dynamodb.GetItem", connection().client.meta.events
    events.register(read_item, note)
    authorizer.handler(event("GET", f"/v1/runs/{run_id}/events", query={"ticket": ticket}), Context())
    events.unregister(read_item, note)
    assert (len(read_keys), [key for key in read_keys if not fnmatch(key, pattern)]) == (2, [])


def test_an_unknown_ticket_is_unauthorized(client: Client, run_id: str) -> None:
    assert read(client, f"/v1/runs/{run_id}/events", "evt_x").status == 401


def test_there_is_no_ticket_for_a_run_of_another_workspace(client: Client, run_id: str, stranger: str) -> None:
    assert client.post(f"/v1/runs/{run_id}/event-tickets", token=stranger).status == 404


def test_a_ticket_is_in_no_log_and_stored_only_as_its_hash(
    client: Client, run_id: str, ticket: str, cloud: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (f"/v1/runs/{run_id}/events", "/v1/runs"):
        read(client, path, ticket)
    logged = capsys.readouterr()
    assert "identified" in logged.out
    assert ticket not in logged.out + logged.err
    assert ticket not in str(clients.dynamodb().scan(TableName=cloud.table_name)["Items"])
