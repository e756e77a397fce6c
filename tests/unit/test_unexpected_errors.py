"""What the functions behind the gateway answer to an unexpected error, and that it is counted."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from cupel_core.base.errors import NotFound, RetryableError
from cupel_core.domain.access import AccessRole
from cupel_core.runs import queries
from cupel_core.store.settings import Settings
from cupel_core.store.unexpected_errors import UNEXPECTED_ERRORS
from cupel_core.workspace.access import request_rates, tokens
from tests.conftest import template
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.mcpserver.conftest import McpClient


def call_api(token: str) -> str:
    return Client(token).get("/v1/runs/run_1").text


def query(token: str) -> str:
    return json.dumps(GraphqlClient(token).execute('{ run(id: "run_1") { id } }'))


def use_tool(token: str) -> str:
    return json.dumps(
        McpClient(token).message("tools/call", {"name": "get_run", "arguments": {"run_id": "run_1"}}).json()
    )


CALLS: dict[str, Callable[[str], str]] = {"api": call_api, "graphqlapi": query, "mcpserver": use_tool}


@pytest.fixture
def token(cloud: Settings) -> str:
    request_rates.forget()
    return tokens.issue("acme", AccessRole.ADMIN, "test", NOW).secret


def counted(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The metric's log lines, in the embedded metric format."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if UNEXPECTED_ERRORS in line]


def fail_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(queries, "get_run", fail)


@pytest.mark.parametrize("function", CALLS)
def test_an_unexpected_error_is_counted_by_the_metric_that_the_alarm_watches(
    function: str, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(RuntimeError("the password is 1234"), monkeypatch)
    answer = CALLS[function](token)
    assert "internal error" in answer
    assert "1234" not in answer
    (metric,) = counted(capsys)
    (described,) = metric["_aws"]["CloudWatchMetrics"]
    assert [each["Name"] for each in described["Metrics"]] == [UNEXPECTED_ERRORS]
    alarm = template()["Resources"]["UnexpectedErrorsAlarm"]["Properties"]
    assert (alarm["Namespace"], alarm["MetricName"]) == (described["Namespace"], UNEXPECTED_ERRORS)
    assert [[each["Name"] for each in alarm["Dimensions"]]] == described["Dimensions"]
    variables = template()["Globals"]["Function"]["Environment"]["Variables"]
    assert alarm["Dimensions"][0]["Value"] == variables["POWERTOOLS_SERVICE_NAME"]
    assert metric[UNEXPECTED_ERRORS] == [1.0]


@pytest.mark.parametrize("error", [NotFound("there is no run run_1"), RetryableError("later", 3)], ids=["404", "503"])
@pytest.mark.parametrize("function", CALLS)
def test_other_errors_are_not_counted(
    function: str,
    error: Exception,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fail_with(error, monkeypatch)
    CALLS[function](token)
    assert counted(capsys) == []
