"""The requests of each wire format."""

from typing import Any

import orjson
import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from cupel_core.domain.conversations.model_parameters import ReasoningEffort, ResponseFormat
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode
from cupel_core.domain.conversations.tools import Tool, ToolChoice, ToolMode
from cupel_core.providers import PROVIDERS, anthropic, bedrock, google, openai
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import WireRequest

TALK = ModelRequest(
    (
        Message(MessageRole.SYSTEM, "Be brief."),
        Message(MessageRole.USER, "Hello"),
        Message(MessageRole.ASSISTANT, "Hi"),
        Message(MessageRole.USER, "Rate it"),
    )
)
CLOSED = {
    "type": "object",
    "properties": {"code": {"type": "string"}},
    "required": ["code"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"code": {"type": "string"}}}
WITH_SCHEMA = TALK.with_parameters(response_format=ResponseFormat.of_schema(CLOSED))


def account(provider: str = "openai", key: str | None = "sk-test") -> Account:
    return Account(provider, PROVIDERS[provider].base_url or "http://localhost:11434/v1/", key)


def body(request: WireRequest) -> dict[str, Any]:
    return dict(request.body)


class TestOpenAI:
    def test_all_messages_are_sent_in_order(self) -> None:
        request = openai.request_for(account(), "gpt-5-mini", TALK)
        assert request.url == "https://api.openai.com/v1/chat/completions"
        assert request.headers == {"authorization": "Bearer sk-test"}
        assert request.body == {
            "model": "gpt-5-mini",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": "Hi"},
                {"role": "user", "content": "Rate it"},
            ],
        }

    @pytest.mark.parametrize(
        ("provider", "name"),
        [
            ("openai", "max_completion_tokens"),
            ("xai", "max_completion_tokens"),
            ("mistral", "max_tokens"),
            ("deepseek", "max_tokens"),
            ("custom", "max_tokens"),
        ],
    )
    def test_the_token_limit_has_the_providers_name(self, provider: str, name: str) -> None:
        limited = TALK.with_parameters(max_output_tokens=100, temperature=0.0)
        sent = openai.request_for(account(provider), "m", limited).body
        assert sent[name] == 100
        assert sent["temperature"] == 0.0
        assert len(sent) == 4

    def test_without_a_key_no_authorization_is_sent(self) -> None:
        request = openai.request_for(account("custom", None), "llama", TALK)
        assert request.url == "http://localhost:11434/v1/chat/completions"
        assert request.headers == {}

    @pytest.mark.parametrize(("schema", "strict"), [(CLOSED, True), (OPEN, False), ({"items": [OPEN]}, False)])
    def test_a_schema_is_strict_if_openai_accepts_it_as_strict(self, schema: dict[str, object], strict: bool) -> None:
        sent = body(
            openai.request_for(account(), "m", TALK.with_parameters(response_format=ResponseFormat.of_schema(schema)))
        )
        assert sent["response_format"] == {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema, "strict": strict},
        }

    def test_deepseek_gets_the_schema_in_the_prompt(self) -> None:
        sent = body(openai.request_for(account("deepseek"), "m", WITH_SCHEMA))
        assert sent["response_format"] == {"type": "json_object"}
        assert '"required":["code"]' in sent["messages"][0]["content"]


class TestAnthropic:
    def test_the_system_prompt_is_separate_from_the_messages(self) -> None:
        request = anthropic.request_for(account("anthropic"), "claude-haiku-4-5", TALK)
        assert request.url == "https://api.anthropic.com/v1/messages"
        assert request.headers == {"x-api-key": "sk-test", "anthropic-version": "2023-06-01"}
        assert request.body == {
            "model": "claude-haiku-4-5",
            "max_tokens": 4096,
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": "Hi"},
                {"role": "user", "content": "Rate it"},
            ],
        }

    def test_a_schema_is_a_forced_tool(self) -> None:
        sent = body(anthropic.request_for(account("anthropic"), "m", WITH_SCHEMA))
        assert sent["tools"][0]["input_schema"] == CLOSED
        assert sent["tool_choice"] == {"type": "tool", "name": sent["tools"][0]["name"]}

    def test_token_limit_and_temperature_are_sent(self) -> None:
        request = TALK.with_parameters(max_output_tokens=9, temperature=0.5)
        sent = body(anthropic.request_for(account("anthropic"), "m", request))
        assert (sent["max_tokens"], sent["temperature"]) == (9, 0.5)


class TestGoogle:
    def test_the_assistant_is_called_model(self) -> None:
        request = google.request_for(account("google"), "gemini-2.5-flash", TALK)
        assert request.url.endswith("/v1beta/models/gemini-2.5-flash:generateContent")
        assert request.headers == {"x-goog-api-key": "sk-test"}
        assert request.body == {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Hello"}]},
                {"role": "model", "parts": [{"text": "Hi"}]},
                {"role": "user", "parts": [{"text": "Rate it"}]},
            ],
        }

    def test_sampling_and_schema_are_generation_config(self) -> None:
        request = TALK.with_parameters(
            max_output_tokens=9, temperature=0.0, response_format=ResponseFormat.of_schema(CLOSED)
        )
        assert body(google.request_for(account("google"), "m", request))["generationConfig"] == {
            "temperature": 0.0,
            "maxOutputTokens": 9,
            "responseMimeType": "application/json",
            "responseJsonSchema": CLOSED,
        }

    def test_a_model_name_is_escaped_in_the_path(self) -> None:
        request = google.request_for(account("google"), "../x?y", TALK)
        assert request.url.endswith("/models/..%2Fx%3Fy:generateContent")


class TestBedrock:
    def test_converse_takes_content_blocks(self) -> None:
        request = TALK.with_parameters(max_output_tokens=9, temperature=0.5)
        assert bedrock.converse_arguments("amazon.nova-lite-v1:0", request) == {
            "modelId": "amazon.nova-lite-v1:0",
            "system": [{"text": "Be brief."}],
            "messages": [
                {"role": "user", "content": [{"text": "Hello"}]},
                {"role": "assistant", "content": [{"text": "Hi"}]},
                {"role": "user", "content": [{"text": "Rate it"}]},
            ],
            "inferenceConfig": {"temperature": 0.5, "maxTokens": 9},
        }

    @pytest.mark.parametrize(
        ("model", "schema"),
        [
            ("amazon.nova-lite-v1:0", CLOSED),
            ("anthropic.claude-sonnet-4-20250514-v1:0", CLOSED),
            ("anthropic.claude-haiku-4-5-20251001-v1:0", OPEN),
        ],
    )
    def test_a_schema_that_the_model_does_not_enforce_is_sent_in_the_prompt(
        self, model: str, schema: dict[str, object]
    ) -> None:
        request = TALK.with_parameters(response_format=ResponseFormat.of_schema(schema))
        arguments = bedrock.converse_arguments(model, request)
        assert '"properties":{"code"' in arguments["system"][1]["text"]
        assert "outputConfig" not in arguments

    @pytest.mark.parametrize(
        "model",
        [
            "anthropic.claude-haiku-4-5-20251001-v1:0",
            "eu.anthropic.claude-opus-4-6-v1",
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "qwen.qwen3-32b-v1:0",
            "openai.gpt-oss-120b-1:0",
        ],
    )
    def test_a_schema_is_enforced_where_the_model_can(self, model: str) -> None:
        request = WITH_SCHEMA.with_parameters(reasoning_effort=ReasoningEffort.LOW)
        arguments = bedrock.converse_arguments(model, request)
        assert arguments["system"] == [{"text": "Be brief."}]
        assert arguments["outputConfig"]["effort"] == "low"
        text_format = arguments["outputConfig"]["textFormat"]
        assert text_format["type"] == "json_schema"
        schema = text_format["structure"]["jsonSchema"]
        assert (schema["name"], orjson.loads(schema["schema"])) == ("answer", CLOSED)

    @pytest.mark.parametrize("is_enforced", [True, False])
    def test_boto3_accepts_the_arguments(self, is_enforced: bool) -> None:
        """The service's own description: names and types of every field."""
        model = "anthropic.claude-haiku-4-5-20251001-v1:0" if is_enforced else "amazon.nova-lite-v1:0"
        request = WITH_SCHEMA.with_parameters(
            reasoning_effort=ReasoningEffort.HIGH,
            stop=("END",),
            tools=(Tool("weather", "The weather", OPEN),),
            tool_choice=ToolChoice(ToolMode.REQUIRED, "weather"),
        )
        service = get_session().get_service_model("bedrock-runtime")
        shape = service.operation_model("Converse").input_shape
        report = ParamValidator().validate(bedrock.converse_arguments(model, request), shape)
        assert report.generate_report() == ""


def test_the_repr_of_a_request_omits_its_headers() -> None:
    assert "sk-test" not in repr(openai.request_for(account(), "m", TALK))


def test_the_error_for_an_invalid_key_does_not_contain_it() -> None:
    with pytest.raises(ProviderError) as caught:
        openai.request_for(account(key="sk-gehéim\nx: y"), "m", TALK)
    assert caught.value.code is ProbeErrorCode.AUTH
    assert "sk-" not in str(caught.value)
