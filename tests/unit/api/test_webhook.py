"""/v1/webhook: setting, reading and testing the workspace's webhook."""

from collections.abc import Iterator
from typing import Any

import pytest

from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.domain.resources.webhooks import CallbackRecord, CallbackScope, CallbackStatus, read_secret
from cupel_core.providers import safe_http
from cupel_core.store import callback_log, runs
from cupel_core.workspace.webhooks import configuration
from tests.unit.api.client import Client
from tests.unit.concurrent_removal import set_during_removal

URL = "https://ci.example.com/cupel"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture(autouse=True)
def empty_secret_cache() -> Iterator[None]:
    configuration.load_secret.cache_clear()
    yield
    configuration.load_secret.cache_clear()


def stored_secret(workspace: str = "acme") -> str:
    return configuration.load_secret(workspace, configuration.get(workspace).secret_version)


def test_a_workspace_has_no_webhook_at_first(client: Client) -> None:
    assert client.get("/v1/webhook").status == 404


def test_cupel_makes_a_secret_and_shows_it_once(client: Client) -> None:
    answer = client.put("/v1/webhook", {"url": URL})
    assert answer.status == 200
    assert len(read_secret(answer.json()["secret"])) == 32
    assert stored_secret() == answer.json()["secret"]
    assert "secret" not in client.get("/v1/webhook").json()


def test_a_secret_of_the_users_own_is_not_returned(client: Client) -> None:
    assert client.put("/v1/webhook", {"url": URL, "secret": SECRET}).json()["secret"] is None
    assert stored_secret() == SECRET


def test_an_address_may_have_a_query(client: Client) -> None:
    url = f"{URL}/?code=1&x=/"
    assert client.put("/v1/webhook", {"url": url}).json()["url"] == url


@pytest.mark.parametrize("url", [f"{URL}#top", "https://me:secret@ci.example.com/", "ftp://ci.example.com/", "/cupel"])
def test_an_address_is_complete_and_has_no_credentials_or_fragment(client: Client, url: str) -> None:
    answer = client.put("/v1/webhook", {"url": url})
    assert (answer.status, answer.fields()) == (422, ["url"])
    assert "must be an absolute http(s) URL without credentials or fragment" in answer.text


@pytest.mark.parametrize("secret", ["", "whsec_AAEC", "secret"])
def test_a_malformed_secret_is_refused(client: Client, secret: str) -> None:
    answer = client.put("/v1/webhook", {"url": URL, "secret": secret})
    assert (answer.status, answer.fields()) == (422, ["secret"])


def test_a_change_keeps_the_secret(client: Client) -> None:
    client.put("/v1/webhook", {"url": URL, "secret": SECRET})
    changed = client.put("/v1/webhook", {"url": URL, "probes": True}).json()
    assert (changed["probes"], changed["secret"], stored_secret()) == (True, None, SECRET)


def test_another_address_needs_a_secret(client: Client) -> None:
    client.put("/v1/webhook", {"url": URL, "secret": SECRET})
    refused = client.put("/v1/webhook", {"url": "https://other.example.com"})
    assert (refused.status, refused.fields()) == (422, ["secret"])
    assert client.put("/v1/webhook", {"url": "https://other.example.com", "secret": None}).json()["secret"]
    assert stored_secret() != SECRET


def test_an_outdated_tag_is_refused(client: Client) -> None:
    tag = client.put("/v1/webhook", {"url": URL}).headers["ETag"]
    assert client.get("/v1/webhook").headers["ETag"] == tag
    assert client.put("/v1/webhook", {"url": URL}, headers={"If-Match": tag}).status == 200
    assert client.put("/v1/webhook", {"url": URL}, headers={"If-Match": tag}).status == 412
    assert client.delete("/v1/webhook", headers={"If-Match": tag}).status == 412


def test_a_deleted_webhook_is_gone_with_its_secret(client: Client) -> None:
    client.put("/v1/webhook", {"url": URL})
    version = configuration.get("acme").secret_version
    assert client.delete("/v1/webhook").status == 204
    assert client.get("/v1/webhook").status == 404
    with pytest.raises(Exception, match="deleted"):
        configuration.load_secret("acme", version)


def test_a_webhook_that_is_set_while_it_is_deleted_is_deleted_too(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.put("/v1/webhook", {"url": URL})
    set_during_removal(monkeypatch, lambda: client.put("/v1/webhook", {"url": URL}))
    assert client.delete("/v1/webhook").status == 204
    assert client.get("/v1/webhook").status == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/webhook"),
        ("PUT", "/v1/webhook"),
        ("DELETE", "/v1/webhook"),
        ("POST", "/v1/webhook/test"),
        ("GET", "/v1/webhook/deliveries"),
    ],
)
def test_only_admins_may_use_it(client: Client, member: str, method: str, path: str) -> None:
    assert client.request(method, path, json={"url": URL} if method == "PUT" else None, token=member).status == 403


def test_a_test_says_why_the_receiver_could_not_be_called(client: Client) -> None:
    client.put("/v1/webhook", {"url": "http://127.0.0.1:1/hook"})
    result = client.post("/v1/webhook/test").json()
    assert (result["delivered"], result["httpStatus"]) == (False, None)
    assert "private network" in result["error"]
    event_loop.run(safe_http.close())


def test_the_log_is_paged_newest_first(client: Client, stranger: str) -> None:
    now = utc_now()
    for number in range(3):
        record = CallbackRecord(
            f"run_a.{number}", "run.started", "run_a", CallbackStatus.DELIVERED, 1, now, now, 200, None, None
        )
        callback_log.save("acme", record)
    page = client.get("/v1/webhook/deliveries", query={"limit": 2}).json()
    assert [item["id"] for item in page["items"]] == ["run_a.2", "run_a.1"]
    rest = client.get("/v1/webhook/deliveries", query={"limit": 2, "cursor": page["nextCursor"]}).json()
    assert ([item["id"] for item in rest["items"]], rest["nextCursor"]) == (["run_a.0"], None)
    assert client.get("/v1/webhook/deliveries", token=stranger).json()["items"] == []


@pytest.mark.parametrize(
    ("webhook", "scope"),
    [
        (None, None),
        ({"url": URL}, CallbackScope.RUNS),
        ({"url": URL, "probes": True}, CallbackScope.PROBES),
        ({"url": URL, "enabled": False}, None),
    ],
)
def test_a_run_records_what_it_calls_the_webhook_for(
    client: Client, webhook: dict[str, Any] | None, scope: CallbackScope | None
) -> None:
    if webhook is not None:
        client.put("/v1/webhook", webhook)
    definition = client.post("/v1/definitions", {"name": "one", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{definition['id']}/scenarios", {"items": [{"prompt": "one"}]})
    answer = client.post("/v1/runs", {"definitionId": definition["id"], "models": ["sim/steady"]})
    assert runs.get(RunRef("acme", answer.json()["run"]["id"])).callbacks is scope
