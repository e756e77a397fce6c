"""The providers over OpenAI's wire format: their addresses, authentication, replies and errors as documented."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from multidict import CIMultiDict

from cupel_core.domain.conversations.model_parameters import ModelParameters, ResponseFormat
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    RequestParameter,
)
from cupel_core.providers import PROVIDERS, embedding_formats, openai
from cupel_core.providers.account import Account
from cupel_core.providers.adaptation import rejected_parameter
from cupel_core.providers.errors import ProviderError, error_from_response
from cupel_core.providers.retry_after import parse_exhausted_allowance
from cupel_core.providers.wire_format import WireRequest

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SCHEMA: dict[str, object] = {"type": "object", "properties": {"code": {"type": "string"}}}
PARAMETERS = ModelParameters(temperature=0.5, max_output_tokens=100, response_format=ResponseFormat.of_schema(SCHEMA))
HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),), PARAMETERS)
AZURE = "https://cupel.openai.azure.com"
DATED = f"{AZURE}?api-version=2024-10-21"
KEY = "secret"


def request(provider: str, model: str = "m", base_url: str | None = None) -> WireRequest:
    account = Account(provider, PROVIDERS[provider].base_url if base_url is None else base_url, KEY)
    return openai.request_for(account, model, HELLO)


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ("cohere", "https://api.cohere.ai/compatibility/v1/chat/completions"),
        ("fireworks", "https://api.fireworks.ai/inference/v1/chat/completions"),
        ("groq", "https://api.groq.com/openai/v1/chat/completions"),
        ("openrouter", "https://openrouter.ai/api/v1/chat/completions"),
        ("perplexity", "https://api.perplexity.ai/chat/completions"),
        ("together", "https://api.together.xyz/v1/chat/completions"),
    ],
)
def test_requests_go_to_the_providers_address_with_a_bearer_token(provider: str, url: str) -> None:
    sent = request(provider)
    assert (sent.url, sent.headers) == (url, {"authorization": f"Bearer {KEY}"})


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        (AZURE, f"{AZURE}/openai/v1/chat/completions"),
        (f"{AZURE}/openai/v1/", f"{AZURE}/openai/v1/chat/completions"),
        (DATED, f"{AZURE}/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"),
        (
            f"{AZURE}/openai/?api-version=2024-10-21",
            f"{AZURE}/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
        ),
    ],
)
def test_azure_is_called_at_the_v1_api_or_at_that_of_a_date(base_url: str, url: str) -> None:
    sent = request("azure", "my gpt", base_url)
    assert (sent.url, sent.headers, sent.body["model"]) == (url, {"api-key": KEY}, "my gpt")


def test_azure_embeds_with_a_deployment() -> None:
    sent = embedding_formats.openai_request(Account("azure", DATED, KEY), "small", ("a",))
    assert sent.url == f"{AZURE}/openai/deployments/small/embeddings?api-version=2024-10-21"


def test_the_query_of_a_base_url_is_kept() -> None:
    assert request("custom", "m", "https://a.test/v1/?region=eu").url == "https://a.test/v1/chat/completions?region=eu"


@pytest.mark.parametrize("provider", ["azure", "groq"])
def test_newer_apis_name_the_limit_of_completion_tokens(provider: str) -> None:
    assert request(provider, base_url=AZURE).body["max_completion_tokens"] == 100


@pytest.mark.parametrize("provider", ["cohere", "fireworks", "openrouter", "perplexity", "together"])
def test_others_know_the_older_name(provider: str) -> None:
    assert request(provider).body["max_tokens"] == 100


def test_coheres_json_mode_takes_the_schema() -> None:
    assert request("cohere").body["response_format"] == {"type": "json_object", "schema": SCHEMA}


@pytest.mark.parametrize("provider", ["azure", "fireworks", "groq", "openrouter", "perplexity", "together"])
def test_others_take_a_schema_as_openai_does(provider: str) -> None:
    expected = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": False}}
    assert request(provider, base_url=AZURE).body["response_format"] == expected


def completion(**more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 8, "completion_tokens": 1, "total_tokens": 9}
    return {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage, **more}


OPENROUTER_USAGE = {
    "prompt_tokens": 8,
    "completion_tokens": 1,
    "total_tokens": 9,
    "cost": 0.00042,
    "is_byok": False,
    "cost_details": {"upstream_inference_cost": None},
}
PERPLEXITY_USAGE = {
    "prompt_tokens": 8,
    "completion_tokens": 1,
    "total_tokens": 9,
    "search_context_size": "low",
    "cost": {"input_tokens_cost": 0.0, "output_tokens_cost": 0.0, "request_cost": 0.005, "total_cost": 0.005},
}
REPLIES = {
    "azure": completion(
        choices=[
            {
                "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}},
                "finish_reason": "stop",
                "index": 0,
                "logprobs": None,
                "message": {"content": "4", "refusal": None, "role": "assistant"},
            }
        ],
        prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}],
    ),
    "cohere": completion(),
    "fireworks": completion(),
    "groq": completion(
        usage={"queue_time": 0.01, "prompt_tokens": 8, "prompt_time": 0.0, "completion_tokens": 1, "total_tokens": 9},
        x_groq={"id": "req_1"},
    ),
    "openrouter": completion(provider="OpenAI", usage=OPENROUTER_USAGE),
    "perplexity": completion(citations=["https://a.test"], search_results=[], usage=PERPLEXITY_USAGE),
    "together": completion(prompt=[]),
}


@pytest.mark.parametrize(
    ("provider", "cost_usd"),
    [(name, {"openrouter": 0.00042, "perplexity": 0.005}.get(name)) for name in sorted(REPLIES)],
)
def test_replies(provider: str, cost_usd: float | None) -> None:
    reply = openai.parse(REPLIES[provider])
    assert (reply.text, reply.usage.input_tokens, reply.usage.output_tokens) == ("4", 8, 1)
    assert (reply.finish_reason, reply.cost_usd) == ("stop", cost_usd)


@pytest.mark.parametrize("cost", [-1, "one", None, True, float("nan"), 1e9, {"total_cost": "x"}, {}])
def test_an_implausible_cost_is_ignored(cost: object) -> None:
    usage = {"prompt_tokens": 8, "completion_tokens": 1, "cost": cost}
    assert openai.parse(completion(usage=usage)).cost_usd is None


UPSTREAM = {"raw": "m is temporarily rate-limited upstream", "provider_name": "Chutes"}


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            {"error": {"code": 429, "message": "Provider returned error", "metadata": UPSTREAM}},
            ProbeErrorCode.RATE_LIMITED,
            "Provider returned error: Chutes: m is temporarily rate-limited upstream",
        ),
        ({"error": {"code": 502, "message": "Bad gateway"}, "user_id": "u"}, ProbeErrorCode.PROVIDER_ERROR, "Bad"),
        ({"error": "overloaded"}, ProbeErrorCode.PROVIDER_ERROR, "overloaded"),
        (
            completion(choices=[{"error": {"code": 504, "message": "Timed out"}, "finish_reason": "error"}]),
            ProbeErrorCode.TIMEOUT,
            "Timed out",
        ),
    ],
)
def test_openrouter_reports_failures_with_status_200(body: Any, code: ProbeErrorCode, message: str) -> None:
    with pytest.raises(ProviderError, match=message) as caught:
        openai.parse(body)
    assert caught.value.code is code


def error_of(status: int, body: Any, headers: dict[str, str] | None = None) -> ProviderError:
    return error_from_response(status, CIMultiDict(headers or {}), orjson.dumps(body), NOW)


AZURE_FILTER = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
    }
}
MODERATION = {"reasons": ["violence"], "flagged_input": "…", "provider_name": "OpenAI", "model_slug": "openai/gpt-5"}


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, {"error": {"code": "401", "message": "Access denied: invalid subscription key"}}, ProbeErrorCode.AUTH),
        (404, {"error": {"code": "DeploymentNotFound", "message": "No deployment"}}, ProbeErrorCode.INVALID_REQUEST),
        (400, AZURE_FILTER, ProbeErrorCode.CONTENT_FILTERED),
        (402, {"error": {"code": 402, "message": "Insufficient credits"}}, ProbeErrorCode.AUTH),
        (
            403,
            {"error": {"code": 403, "message": "Input was flagged", "metadata": MODERATION}},
            ProbeErrorCode.CONTENT_FILTERED,
        ),
        (413, {"error": {"message": "Too large", "type": "tokens", "code": "rate_limit_exceeded"}}, "invalid_request"),
        (498, {"error": {"message": "capacity_exceeded"}}, ProbeErrorCode.RATE_LIMITED),
        (
            400,
            {"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed", "failed_generation": ""}},
            ProbeErrorCode.PROVIDER_ERROR,
        ),
        (412, {"error": {"object": "error", "type": "error", "message": "Account is suspended"}}, ProbeErrorCode.AUTH),
        (503, {"error": {"object": "error", "message": "Service overloaded"}}, ProbeErrorCode.PROVIDER_ERROR),
        (401, {"id": "1", "message": "invalid api token"}, ProbeErrorCode.AUTH),
        (429, {"id": "1", "message": "You are using a Trial key"}, ProbeErrorCode.RATE_LIMITED),
        (400, {"error": {"message": "Invalid model", "type": "invalid_model", "code": 400}}, "invalid_request"),
    ],
)
def test_the_code_of_an_error(status: int, body: Any, code: str) -> None:
    assert error_of(status, body).code == code


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),  # Azure
        ({"retry-after": "7", "x-ratelimit-reset-tokens": "7.66s"}, 7.0),  # Groq
        ({"x-ratelimit-limit": "10", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "0.5"}, 0.5),  # Together AI
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795348860000"}, 60.0),  # OpenRouter
    ],
)
def test_the_delay_that_a_provider_asks_for(headers: dict[str, str], seconds: float) -> None:
    assert error_of(429, {}, headers).retry_after_seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    "headers",
    [
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "10s"},  # Groq, Azure
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "10"},  # Together AI
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795348810000"},  # OpenRouter
    ],
)
def test_an_exhausted_limit_is_waited_for(headers: dict[str, str]) -> None:
    exhausted = parse_exhausted_allowance(headers, NOW)
    assert exhausted is not None
    assert exhausted.wait_seconds == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("status", "body", "parameter"),
    [
        (
            400,
            {"error": {"message": "Unsupported value: 'temperature' does not support 0.5 with this model."}},
            RequestParameter.TEMPERATURE,
        ),  # Azure
        (
            400,
            {"error": {"message": "This model does not support response format `json_schema`."}},
            RequestParameter.JSON_SCHEMA,
        ),  # Groq
        (400, {"error": {"message": "property 'temperature' is unsupported"}}, RequestParameter.TEMPERATURE),  # Groq
        (
            400,
            {"error": {"message": "Extra inputs are not permitted, field: 'max_tokens', value: 100"}},
            RequestParameter.MAX_OUTPUT_TOKENS,
        ),  # Fireworks
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "Provider returned error",
                    "metadata": {"raw": '{"message":"temperature is not supported"}', "provider_name": "Azure"},
                }
            },
            RequestParameter.TEMPERATURE,
        ),  # OpenRouter
        (
            422,
            {"message": "unknown field: parameter 'max_tokens' is not a valid field"},
            RequestParameter.MAX_OUTPUT_TOKENS,
        ),  # Cohere
    ],
)
def test_a_rejected_parameter_is_recognized(status: int, body: Any, parameter: RequestParameter) -> None:
    assert rejected_parameter(error_of(status, body), HELLO) is parameter
