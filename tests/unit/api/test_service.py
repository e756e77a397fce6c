"""What holds for every route: requests are logged without their contents; internal errors reveal nothing."""

import logging

import pytest
from botocore.stub import Stubber

from cupel_core.store import clients
from cupel_core.store.settings import Settings
from tests.unit.api.client import Client, call, event


def test_each_request_is_one_line_without_secrets(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client.put("/v1/providers/openai", {"apiKey": "sk-secret"})
    lines = [vars(record) for record in caplog.records if record.name == "cupel"]
    body = [(line["message"], line["method"], line["route"], line["status"], line["workspace"]) for line in lines]
    assert body == [("request", "PUT", "/v1/providers/{name}", 200, "acme")]
    assert "sk-secret" not in str(lines)
    assert str(client.token) not in str(lines)


def test_an_unexpected_error_reveals_no_internals(cloud: Settings, caplog: pytest.LogCaptureFixture) -> None:
    clients.dynamodb().delete_table(TableName=cloud.table_name)
    asked = event("GET", "/v1/providers")
    asked["requestContext"]["authorizer"] = {"lambda": {"workspace": "acme", "role": "admin", "tokenId": "tok_1"}}
    answer = call(asked)
    assert (answer.status, answer.headers["Content-Type"]) == (500, "application/problem+json")
    assert "ResourceNotFound" not in answer.text
    assert "ResourceNotFound" in caplog.text


def test_problems_carry_the_request_id(client: Client) -> None:
    refusals = [client.get("/v1/nothing"), client.get("/v1/runs/run_x"), client.post("/v1/runs", {})]
    assert [answer.json()["requestId"] for answer in refusals] == ["request-1"] * 3


def test_answers_are_not_to_be_stored(client: Client) -> None:
    assert client.get("/v1/providers").headers["Cache-Control"] == "no-store"


def test_a_throttled_aws_call_is_answered_with_503(client: Client) -> None:
    with Stubber(clients.secretsmanager()) as stub:
        stub.add_client_error("put_secret_value", "ThrottlingException")
        answer = client.put("/v1/providers/openai", {"apiKey": "sk-secret"})
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
