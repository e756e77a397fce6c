"""`cupel models`, `providers` and `tokens`, and the command as a whole."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cupel.commands.options import command_name
from tests.unit.cupel.fake_api import Cupel, FakeApi

MODEL = {
    "simulated": False,
    "usable": True,
    "inputUsdPerMillion": 0.25,
    "outputUsdPerMillion": 2.0,
    "contextLength": 272_000,
    "maxOutputTokens": 128_000,
    "inputModalities": ["text", "image"],
    "supportedParameters": ["tools", "responseFormat"],
}
UNKNOWN = dict.fromkeys(("contextLength", "maxOutputTokens", "inputModalities", "supportedParameters"))
PROVIDER = {
    "name": "openai",
    "enabled": True,
    "usable": False,
    "needsKey": True,
    "hasKey": False,
    "maxParallelRequests": 50,
    "requestsPerMinute": None,
    "tokensPerMinute": None,
    "baseUrl": "https://api.example/v1",
}


@pytest.fixture
def two_models(api: FakeApi) -> None:
    api.models = [{"id": "openai/gpt-5-mini", **MODEL}, {"id": "xai/grok", **MODEL, "usable": False}]


@pytest.mark.usefixtures("two_models")
def test_models_are_those_that_can_be_used(cupel: Cupel):
    answer = cupel("models")
    assert "openai/gpt-5-mini" in answer.stdout
    assert "xai/grok" not in answer.stdout
    assert "1 more of providers that are not configured" in answer.stderr


@pytest.mark.usefixtures("two_models")
def test_all_models(cupel: Cupel):
    assert [model["id"] for model in json.loads(cupel("models", "--all", "--json").stdout)] == [
        "openai/gpt-5-mini",
        "xai/grok",
    ]


@pytest.mark.usefixtures("two_models")
def test_models_are_shown_with_what_they_take(cupel: Cupel):
    heading, line = cupel("models").stdout.splitlines()
    assert re.split(r"\s{2,}", heading.strip())[3:] == ["context", "longest answer", "input", "parameters"]
    assert re.split(r"\s{2,}", line.strip())[3:] == ["272,000", "128,000", "text, image", "tools, responseFormat"]


def test_what_is_unknown_of_a_model_is_shown_as_such(api: FakeApi, cupel: Cupel):
    api.models = [{"id": "xai/a", **MODEL, **UNKNOWN}]
    assert re.split(r"\s{2,}", cupel("models").stdout.splitlines()[1].strip())[3:] == ["–", "–", "–", "–"]


def test_models_of_one_provider(api: FakeApi, cupel: Cupel):
    cupel("models", "--provider", "xai")
    assert api.requests[0].url.params["provider"] == "xai"


def test_providers_say_what_they_need(api: FakeApi, cupel: Cupel):
    api.providers = [PROVIDER, {**PROVIDER, "name": "custom", "needsKey": False, "baseUrl": ""}]
    table = cupel("providers").stdout
    assert "needs a key" in table
    assert "needs an address" in table


def test_a_provider_with_all_settings_is_configured_and_not_ready(api: FakeApi, cupel: Cupel):
    api.providers = [{**PROVIDER, "usable": True}]
    table = cupel("providers").stdout
    assert "configured" in table
    assert "ready" not in table


def test_providers_as_json(api: FakeApi, cupel: Cupel):
    api.providers = [PROVIDER]
    assert json.loads(cupel("providers", "--json").stdout) == [PROVIDER]


def test_a_key_comes_from_a_variable(api: FakeApi, cupel: Cupel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_KEY", "k-123")
    answer = cupel("providers", "set", "openai", "--api-key-env", "SOME_KEY")
    assert api.bodies("PUT", "/providers/openai") == [{"apiKey": "k-123"}]
    assert "k-123" not in answer.output


def test_a_key_comes_from_standard_input(api: FakeApi, cupel: Cupel):
    cupel("providers", "set", "openai", "--api-key-stdin", stdin="k-456\n")
    assert api.bodies("PUT", "/providers/openai") == [{"apiKey": "k-456"}]


def test_a_key_may_be_a_json_file_of_several_lines(api: FakeApi, cupel: Cupel):
    cupel("providers", "set", "vertex", "--api-key-stdin", stdin='{\n  "client_email": "a"\n}\n')
    assert api.bodies("PUT", "/providers/vertex") == [{"apiKey": '{\n  "client_email": "a"\n}'}]


def test_a_key_can_be_forgotten(api: FakeApi, cupel: Cupel):
    cupel("providers", "set", "openai", "--forget-api-key")
    assert api.bodies("PUT", "/providers/openai") == [{"apiKey": None}]


def test_only_what_is_named_is_changed(api: FakeApi, cupel: Cupel):
    options = ["--base-url", "http://127.0.0.1:11434/v1", "--max-parallel-requests", "4", "--disable"]
    cupel("providers", "set", "custom", *options)
    assert api.bodies("PUT", "/providers/custom") == [
        {"baseUrl": "http://127.0.0.1:11434/v1", "enabled": False, "maxParallelRequests": 4}
    ]


def test_a_server_of_ones_own_has_prices(api: FakeApi, cupel: Cupel):
    options = ["--base-url", "https://gpu.test/v1", "--price", "org/llama=0.2,0.6", "--price", "*=1,2"]
    cupel("providers", "set", "custom-gpu", *options)
    (body,) = api.bodies("PUT", "/providers/custom-gpu")
    assert body["prices"] == [
        {"model": "org/llama", "inputUsdPerMillion": 0.2, "outputUsdPerMillion": 0.6},
        {"model": None, "inputUsdPerMillion": 1.0, "outputUsdPerMillion": 2.0},
    ]


def test_a_removed_provider_has_neither_key_nor_settings(api: FakeApi, cupel: Cupel):
    cupel("providers", "remove", "custom-gpu")
    (body,) = api.bodies("PUT", "/providers/custom-gpu")
    assert body == dict.fromkeys(
        ["apiKey", "baseUrl", "enabled", "maxParallelRequests", "prices", "requestsPerMinute", "tokensPerMinute"]
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to set"),
        (["--price", "llama"], "llama is not a model and two prices"),
        (["--price", "llama=1"], "llama=1 is not a model and two prices"),
        (["--price", "llama=1,x"], "llama=1,x is not a model and two prices"),
        (["--price", "llama=1,2", "--forget-prices"], "specify only one of"),
        (["--api-key-env", "NOT_THERE"], "NOT_THERE is not set"),
        (["--api-key-stdin"], "standard input is empty"),
        (["--api-key-stdin", "--forget-api-key"], "specify only one of"),
    ],
)
def test_invalid_settings_are_usage_errors(api: FakeApi, cupel: Cupel, options: list[str], message: str):
    answer = cupel("providers", "set", "openai", *options, stdin="")
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert api.requests == []


def test_a_new_token_is_printed_alone(cupel: Cupel):
    answer = cupel("tokens", "create", "--name", "ci", "--role", "viewer")
    assert answer.stdout == "cupel_secret\n"
    assert "shown only once" in answer.stderr


def test_a_token_has_a_known_role(cupel: Cupel):
    assert cupel("tokens", "create", "--name", "ci", "--role", "owner").exit_code == 2


def test_tokens_are_listed(api: FakeApi, cupel: Cupel):
    created_at = "2026-01-31T09:30:00.000Z"
    times = {"createdAt": created_at, "lastUsedAt": created_at, "expiresAt": None, "revokedAt": None}
    api.tokens = [{"id": "tok_1", "name": "[ci]", "role": "member", **times}]
    assert cupel("tokens").stdout.splitlines()[1].split() == [
        *("tok_1", "[ci]", "member"),
        *("2026-01-31T09:30:00+00:00", "2026-01-31T09:30:00+00:00"),
        *("–", "–"),
    ]


def test_a_token_is_revoked(api: FakeApi, cupel: Cupel):
    assert cupel("tokens", "revoke", "tok_1").exit_code == 0
    assert [(request.method, request.url.path) for request in api.requests] == [("DELETE", "/v1/tokens/tok_1")]


def test_help_names_the_exit_codes(cupel: Cupel):
    assert "0 success" in cupel("--help").output


def test_help_loads_neither_an_http_client_nor_aws():
    """They take longer to import than everything else, and `cupel --help` must be fast."""
    loaded = "import sys, cupel.cli; print([m for m in ('httpx', 'boto3', 'botocore', 'pydantic') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"


def test_commands_to_copy_name_this_clones_executable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / ".venv" / "bin" / "cupel"), "run"])
    assert command_name() == ".venv/bin/cupel"


def test_commands_to_copy_name_an_installed_command_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["/usr/bin/cupel", "run"])
    assert command_name() == "cupel"
