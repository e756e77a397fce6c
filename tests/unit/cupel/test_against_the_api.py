"""The command against the real API function, on moto: do both mean the same shapes?"""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from shared.settings import Settings
from tests.unit.api.client import Client as ApiClient
from tests.unit.cupel.fake_api import Cupel

SAMPLES = sorted((Path(__file__).parents[3] / "samples").glob("*.yaml"))


def through(api: ApiClient) -> httpx.MockTransport:
    def call(request: httpx.Request) -> httpx.Response:
        with redirect_stdout(StringIO()):  # a function's log, which is no output of the command
            answer = api.request(
                request.method,
                request.url.path,
                body=request.content.decode() or None,
                headers=dict(request.headers),
                query=dict(request.url.params),
            )
        return httpx.Response(answer.status, headers=answer.headers, text=answer.text)

    return httpx.MockTransport(call)


@pytest.fixture
def client(cloud: Settings) -> Client:
    api = ApiClient(None)
    return Client("http://api.test", api.issue(), transport=through(api))


@pytest.fixture
def cupel(client: Client) -> Cupel:
    client.close = lambda: None  # type: ignore[method-assign]

    def invoke(*arguments: str):
        return CliRunner().invoke(app, list(arguments), obj=Session(connect=lambda: client), catch_exceptions=False)

    return invoke


def answer(cupel: Cupel, *arguments: str):
    told = cupel(*arguments, "--json")
    assert told.exit_code == 0, told.stderr
    return json.loads(told.stdout)


def test_simulated_models_can_be_used_at_once(cupel: Cupel):
    assert "sim/steady" in [model["id"] for model in answer(cupel, "models")]
    assert cupel("models").exit_code == 0


def test_a_provider_is_set_up_and_listed(cupel: Cupel):
    changed = answer(
        cupel, "providers", "set", "custom", "--base-url", "http://127.0.0.1:1/v1", "--tokens-per-minute", "9"
    )
    assert changed in answer(cupel, "providers")
    assert "http://127.0.0.1:1/v1" in cupel("providers").stdout


def test_a_token_is_created_listed_and_revoked(cupel: Cupel):
    created = answer(cupel, "tokens", "create", "--name", "ci", "--role", "viewer")
    assert created["token"].startswith("cupel_")
    assert cupel("tokens", "revoke", created["id"]).exit_code == 0
    listed = {token["id"]: token for token in answer(cupel, "tokens")}
    assert listed[created["id"]]["revokedAt"] is not None
    assert cupel("tokens").exit_code == 0


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_started_twice_from_one_definition(cupel: Cupel, client: Client, sample: Path):
    first = answer(cupel, "run", str(sample), "--models", "sim/steady,sim/bold", "--sample", "50", "--seed", "7")
    second = answer(cupel, "run", str(sample), "--models", "sim/steady")
    assert first["run"]["definitionId"] == second["run"]["definitionId"]
    scenarios = sum(1 for _ in client.scenarios(first["run"]["definitionId"]))
    assert (first["jobCount"], second["jobCount"]) == (scenarios // 2 * 2, scenarios)


def test_a_run_that_waits_is_shown_and_listed(cupel: Cupel, client: Client):
    run = answer(cupel, "run", str(SAMPLES[0]), "--models", "sim/steady")["run"]
    assert [listed["id"] for listed in answer(cupel, "runs", "--status", "PENDING")] == [run["id"]]
    assert answer(cupel, "show", run["id"])["results"][0]["completed"] == 0
    assert answer(cupel, "transcripts", run["id"]) == []
    assert {probe["status"] for probe in client.probes(run["id"])} == {"QUEUED"}
    assert [event["type"] for event in client.events(run["id"])] == ["run.created"]
    for command in ("runs", "show", "transcripts"):
        assert cupel(command, *([] if command == "runs" else [run["id"]])).exit_code == 0


def test_an_unknown_provider_is_named(cupel: Cupel):
    refused = cupel("run", str(SAMPLES[0]), "--models", "nope/x")
    assert refused.exit_code == 2
    assert "models.0: " in refused.stderr
