"""Signing in to the web page with a code."""

import json
from datetime import timedelta
from typing import Any

import pytest

from authorize import app as authorizer
from cupel_core.base.clock import from_iso, utc_now
from cupel_core.base.errors import Unauthorized
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.store import clients, short_lived_secrets
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import sessions, tokens
from tests.lambda_context import Context
from tests.unit.api.client import Answer, Client, call, event
from tests.unit.api.test_event_tickets import start_run
from tests.unit.conflicting_transactions import conflicting_transactions


def create_code(client: Client, token: str | None = None) -> str:
    answer = client.post("/v1/login-codes", token=token)
    assert answer.status == 200, answer.text
    return str(answer.json()["code"])


def redeem(code: str) -> Answer:
    """Without a token, as the page does before it has one; the route has no authorizer."""
    return call(event("POST", "/v1/login-codes/redeem", body=json.dumps({"code": code})))


def open_session(client: Client, token: str | None = None) -> Any:
    answer = redeem(create_code(client, token))
    assert answer.status == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("role", [AccessRole.ADMIN, AccessRole.MEMBER, AccessRole.VIEWER])
def test_a_code_is_exchanged_for_a_token_of_the_same_workspace_and_role(client: Client, role: AccessRole) -> None:
    session = open_session(client, client.issue("other", role))
    known = client.get("/v1/session", token=session["token"]).json()
    assert (known["workspace"], known["role"], known["tokenId"]) == ("other", role, session["id"])


def test_a_session_ends_after_twelve_hours(client: Client) -> None:
    session = open_session(client)
    assert from_iso(session["expiresAt"]) - from_iso(session["createdAt"]) <= timedelta(hours=12)
    assert from_iso(session["expiresAt"]) > utc_now() + timedelta(hours=11, minutes=59)
    assert client.get("/v1/session", token=session["token"]).json()["expiresAt"] == session["expiresAt"]


def test_a_session_ends_no_later_than_its_token(client: Client) -> None:
    soon = utc_now().replace(microsecond=0) + timedelta(hours=1)
    token = tokens.issue("acme", AccessRole.VIEWER, "short", utc_now(), soon).secret
    assert from_iso(open_session(client, token)["expiresAt"]) == soon


def test_a_code_works_once(client: Client) -> None:
    code = create_code(client)
    assert [redeem(code).status for _ in range(2)] == [200, 401]


def test_of_two_concurrent_redemptions_one_succeeds(client: Client) -> None:
    """Both have read the code before either writes."""
    now, caller = utc_now(), Caller("acme", AccessRole.ADMIN, tokens.list_tokens("acme").items[0].id)
    digest = tokens.digest_of(sessions.create_code(caller, now).secret)
    code = short_lived_secrets.find_code(digest)
    assert code is not None
    made = [tokens.Token(f"tok_{number}", "page", code.role, now) for number in range(2)]
    assert [short_lived_secrets.redeem(digest, code, token, token.id) for token in made] == [True, False]


def test_a_code_is_not_lost_when_redeeming_it_conflicts_with_other_writes(client: Client) -> None:
    code = create_code(client)
    with conflicting_transactions():
        refused = redeem(code)
    assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
    assert redeem(code).status == 200


def test_a_code_expires_after_a_minute(client: Client) -> None:
    now, caller = utc_now(), Caller("acme", AccessRole.ADMIN, tokens.list_tokens("acme").items[0].id)
    issued = sessions.create_code(caller, now)
    assert issued.expires_at - now == timedelta(seconds=60)
    with pytest.raises(Unauthorized, match="has expired"):
        sessions.redeem_code(issued.secret, now + timedelta(seconds=60))
    assert sessions.redeem_code(issued.secret, now + timedelta(seconds=59)).secret


def test_an_unknown_code_is_a_problem_document(client: Client) -> None:
    answer = redeem("x")
    assert (answer.status, answer.headers["Content-Type"]) == (401, "application/problem+json")


def test_a_session_ends_when_its_token_is_revoked(client: Client) -> None:
    made = client.post("/v1/tokens", {"name": "laptop", "role": "viewer"}).json()
    session = open_session(client, made["token"])
    client.delete(f"/v1/tokens/{made['id']}")
    assert client.get("/v1/session", token=session["token"]).status == 401


def test_a_code_of_a_token_that_is_revoked_before_it_is_redeemed_opens_nothing(client: Client) -> None:
    made = client.post("/v1/tokens", {"name": "laptop", "role": "viewer"}).json()
    code = create_code(client, made["token"])
    client.delete(f"/v1/tokens/{made['id']}")
    assert redeem(code).status == 401
    assert "web page: laptop" not in [token.name for token in tokens.list_tokens("acme").items]


def test_a_session_opened_by_a_session_ends_with_the_first_token_and_no_later_than_the_first_session(
    client: Client,
) -> None:
    made = client.post("/v1/tokens", {"name": "laptop", "role": "viewer"}).json()
    first = open_session(client, made["token"])
    second = open_session(client, first["token"])
    assert (second["expiresAt"], second["name"]) == (first["expiresAt"], "web page: laptop")
    client.delete(f"/v1/tokens/{made['id']}")
    assert client.get("/v1/session", token=second["token"]).status == 401


def test_a_session_is_listed_named_after_its_token_and_can_be_revoked_alone(client: Client) -> None:
    session = open_session(client)
    listed = client.get("/v1/tokens").json()["items"][0]
    assert (listed["id"], listed["name"]) == (session["id"], "web page: test")
    client.delete(f"/v1/tokens/{session['id']}")
    assert client.get("/v1/session", token=session["token"]).status == 401
    assert client.get("/v1/session").status == 200


def test_an_event_stream_of_a_session_ends_with_the_token_that_opened_it(client: Client) -> None:
    run_id = start_run(client)
    made = client.post("/v1/tokens", {"name": "laptop", "role": "viewer"}).json()
    session = open_session(client, made["token"])
    ticket = client.post(f"/v1/runs/{run_id}/event-tickets", token=session["token"]).json()["ticket"]
    stream = {"path": f"/v1/runs/{run_id}/events", "query": {"ticket": ticket}}
    assert Client(None).request("GET", **stream).status == 200
    client.delete(f"/v1/tokens/{made['id']}")
    assert Client(None).request("GET", **stream).status == 401


def test_a_user_of_an_identity_provider_gets_no_code(client: Client) -> None:
    asked = event("POST", "/v1/login-codes")
    context = {"workspace": "acme", "role": "admin", "tokenId": "auth0|7", "userName": "Ada"}
    asked["requestContext"]["authorizer"] = {"lambda": context}
    assert call(asked).status == 409


def test_a_user_of_an_identity_provider_has_a_session_without_an_end(client: Client) -> None:
    asked = event("GET", "/v1/session")
    context = {"workspace": "acme", "role": "member", "tokenId": "auth0|7", "userName": "Ada"}
    asked["requestContext"]["authorizer"] = {"lambda": context}
    session = call(asked).json()
    assert (session["name"], session["expiresAt"]) == ("Ada", None)


def test_a_code_and_its_token_are_stored_only_as_hashes_and_not_logged(
    client: Client, cloud: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    code = create_code(client)
    stored = str(clients.dynamodb().scan(TableName=cloud.table_name)["Items"])
    token = redeem(code).json()["token"]
    stored += str(clients.dynamodb().scan(TableName=cloud.table_name)["Items"])
    logged = capsys.readouterr()
    assert not [secret for secret in (code, token) if secret in stored + logged.out + logged.err]


def test_the_items_of_a_session_erase_themselves_a_month_after_its_end(client: Client, cloud: Settings) -> None:
    session = open_session(client)
    items = clients.dynamodb().scan(TableName=cloud.table_name)["Items"]
    due = from_iso(session["expiresAt"]) + timedelta(days=30)
    own = [each["ttl"]["N"] for each in items if "ttl" in each and each["sk"]["S"] in ("token", session["id"])]
    assert own == [str(int(due.timestamp()))] * 2


def test_a_code_that_is_no_text_is_refused_with_its_field(client: Client) -> None:
    answer = call(event("POST", "/v1/login-codes/redeem", body='{"code": 7}'))
    assert (answer.status, answer.fields()) == (422, ["code"])


def test_a_body_of_a_public_operation_is_checked_like_any_other(client: Client) -> None:
    refused = call(event("POST", "/v1/login-codes/redeem", {"Content-Type": "text/plain"}, "{}"))
    assert refused.status == 415


def test_the_authorizer_identifies_a_session(client: Client) -> None:
    token = open_session(client)["token"]
    context = authorizer.handler(event("GET", "/v1/session", {"Authorization": f"Bearer {token}"}), Context())
    assert context["context"]["workspace"] == "acme"
