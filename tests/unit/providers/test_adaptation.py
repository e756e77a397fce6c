"""Refusals of parameters as providers have worded them (from public issue reports), and the request made instead."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import orjson
import pytest
from aiohttp import web
from botocore.exceptions import ClientError

from cupel_core.domain.conversations.model_parameters import ModelParameters, ReasoningEffort, ResponseFormat
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    RequestParameter,
)
from cupel_core.domain.conversations.tools import Tool, ToolChoice, ToolMode
from cupel_core.providers import bedrock, http, openai, safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.adaptation import MAX_REMEMBERED_REFUSALS, Adaptation, Adapter, rejected_parameter, without
from cupel_core.providers.completion import complete_with_retry
from cupel_core.providers.errors import ParameterRejected, ProviderError, error_from_response
from tests.unit.providers.agents import Agent, ReceivedRequest, json, serving

NOW = datetime(2026, 11, 22, tzinfo=UTC)
SCHEMA: dict[str, object] = {"type": "object", "properties": {"code": {"type": "string"}}}
FULL = ModelRequest(
    (Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, "Hello")),
    ModelParameters(0.0, max_output_tokens=100, response_format=ResponseFormat.of_schema(SCHEMA)),
)
TEMPERATURE, SYSTEM_ROLE = RequestParameter.TEMPERATURE, RequestParameter.SYSTEM_ROLE
JSON_SCHEMA, TOKENS = RequestParameter.JSON_SCHEMA, RequestParameter.MAX_OUTPUT_TOKENS


def openai_error(message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def anthropic_error(message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_1"}


def google_error(message: str) -> dict[str, Any]:
    return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


GPT_5_TEMPERATURE = openai_error(
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
    "temperature",
    "unsupported_value",
)
GPT_5_MAX_TOKENS = openai_error(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "max_tokens",
    "unsupported_parameter",
)
REFUSALS = [
    (400, GPT_5_TEMPERATURE, TEMPERATURE),
    (400, GPT_5_MAX_TOKENS, TOKENS),
    (
        400,
        openai_error(
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role",
            "unsupported_value",
        ),
        SYSTEM_ROLE,
    ),
    (
        400,
        openai_error(
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more "
            "about supported models at the Structured Outputs guide: "
            "https://platform.openai.com/docs/guides/structured-outputs"
        ),
        JSON_SCHEMA,
    ),
    (400, anthropic_error("`temperature` is deprecated for this model."), TEMPERATURE),
    (
        400,
        anthropic_error(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        ),
        TEMPERATURE,
    ),
    (400, google_error("Developer instruction is not enabled for models/gemma-3-27b-it"), SYSTEM_ROLE),
    (400, google_error("JSON mode is not enabled for models/gemma-3-27b-it"), JSON_SCHEMA),
    (400, [google_error("Developer instruction is not enabled for models/gemma-3-27b-it")], SYSTEM_ROLE),
    (400, openai_error("This response_format type is unavailable now", None, "invalid_request_error"), JSON_SCHEMA),
    (
        422,
        {
            "error": {
                "message": "Failed to deserialize the JSON body into the target type: response_format: "
                "response_format.type `json_schema` is unavailable now at line 1 column 1193"
            }
        },
        JSON_SCHEMA,
    ),
    (
        400,
        openai_error("'response_format.type' : value is not one of the allowed values ['text','json_object']"),
        JSON_SCHEMA,
    ),
    (
        400,
        {"message": "invalid temperature: only 1 is allowed for this model", "type": "invalid_request_error"},
        TEMPERATURE,
    ),
]


def refusal(status: int, body: Any) -> ProviderError:
    return error_from_response(status, {}, orjson.dumps(body), NOW)


@pytest.mark.parametrize(("status", "body", "parameter"), REFUSALS)
def test_a_refusal_names_the_parameter(status: int, body: Any, parameter: RequestParameter) -> None:
    assert rejected_parameter(refusal(status, body), FULL) is parameter


EVERYTHING = FULL.with_parameters(
    top_p=0.9,
    top_k=40,
    stop=("END",),
    seed=7,
    frequency_penalty=0.1,
    presence_penalty=0.1,
    reasoning_effort=ReasoningEffort.HIGH,
    tools=(Tool("weather"),),
    tool_choice=ToolChoice(ToolMode.REQUIRED),
    response_format=None,
)
FURTHER_REFUSALS = [
    (
        openai_error("Unsupported parameter: 'top_p' is not supported with this model.", "top_p"),
        RequestParameter.TOP_P,
    ),
    (
        openai_error("Unsupported parameter: 'reasoning_effort' is not supported with this model."),
        RequestParameter.REASONING_EFFORT,
    ),
    (openai_error("Unrecognized request argument supplied: reasoning_effort"), RequestParameter.REASONING_EFFORT),
    (openai_error("Unsupported parameter: 'stop' is not supported with this model."), RequestParameter.STOP),
    (openai_error("Model grok-4 does not support parameter presencePenalty."), RequestParameter.PRESENCE_PENALTY),
    (openai_error("Model grok-4 does not support parameter frequencyPenalty."), RequestParameter.FREQUENCY_PENALTY),
    (
        openai_error("[{'type': 'extra_forbidden', 'msg': 'Extra inputs are not permitted', 'loc': ('seed',)}]"),
        RequestParameter.SEED,
    ),
    (openai_error("registry.ollama.ai/library/gemma3:1b does not support tools"), RequestParameter.TOOLS),
    (
        anthropic_error("`top_k` may only be set to -1 or unset: it is not supported by this model."),
        RequestParameter.TOP_K,
    ),
    (anthropic_error("tool_choice: type `any` is not supported by this model."), RequestParameter.TOOL_CHOICE),
    (anthropic_error("adaptive thinking is not supported on this model"), RequestParameter.REASONING_EFFORT),
    (google_error("Penalty is not enabled for models/gemini-2.5-flash-lite"), RequestParameter.FREQUENCY_PENALTY),
    (google_error("Thinking level is not supported for this model."), RequestParameter.REASONING_EFFORT),
    (google_error("Function calling is not enabled for models/gemma-3-4b-it"), RequestParameter.TOOLS),
]


@pytest.mark.parametrize(("body", "parameter"), FURTHER_REFUSALS)
def test_a_refusal_names_one_of_many_parameters(body: Any, parameter: RequestParameter) -> None:
    assert rejected_parameter(refusal(400, body), EVERYTHING) is parameter
    assert rejected_parameter(refusal(400, body), without(EVERYTHING, frozenset({parameter}))) is not parameter


BEDROCK_REFUSALS = [
    ("The model returned the following errors: output_config.format: Extra inputs are not permitted", JSON_SCHEMA),
    ("This model doesn't support the outputConfig.textFormat field. Remove it and try again.", JSON_SCHEMA),
    ("The model returned the following errors: `temperature` is deprecated for this model.", TEMPERATURE),
    (
        "This model doesn't support system messages. Try again without a system message or use a model that supports "
        "system messages.",
        SYSTEM_ROLE,
    ),
]


@pytest.mark.parametrize(("message", "parameter"), BEDROCK_REFUSALS)
async def test_a_refusal_of_bedrock_names_the_parameter(message: str, parameter: RequestParameter) -> None:
    response: Any = {
        "Error": {"Code": "ValidationException", "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": {}},
    }

    def refuse(_: Account, __: float) -> Any:
        raise ClientError(response, "Converse")

    with pytest.raises(ProviderError) as caught:
        await bedrock.complete(Account("bedrock", ""), "m", FULL, 1, NOW, refuse)
    assert rejected_parameter(caught.value, FULL) is parameter


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, openai_error("Invalid 'temperature': decimal above maximum value. Expected a value <= 2", "temperature")),
        (400, anthropic_error("max_tokens: 900000 > 64000, which is the maximum allowed number of output tokens")),
        (
            404,
            openai_error("The model `gpt-9` does not exist or you do not have access to it.", None, "model_not_found"),
        ),
        (400, openai_error("This model's maximum context length is 128000 tokens.", "messages")),
        (400, google_error("User location is not supported for the API use.")),
        (401, GPT_5_TEMPERATURE),
        (500, GPT_5_TEMPERATURE),
    ],
)
def test_other_errors_are_no_refusals_of_a_parameter(status: int, body: Any) -> None:
    assert rejected_parameter(refusal(status, body), FULL) is None


@pytest.mark.parametrize(("status", "body", "parameter"), REFUSALS)
def test_only_a_parameter_that_was_sent_can_be_left_out(status: int, body: Any, parameter: RequestParameter) -> None:
    assert rejected_parameter(refusal(status, body), without(FULL, frozenset(RequestParameter))) is None


def test_a_system_prompt_is_folded_into_the_first_user_message() -> None:
    request = without(FULL.with_parameters(response_format=None), frozenset({SYSTEM_ROLE}))
    assert request.messages == (Message(MessageRole.USER, "Be brief.\n\nHello"),)


def test_a_conversation_that_the_assistant_began_gets_the_system_prompt_as_its_first_message() -> None:
    greeting = Message(MessageRole.ASSISTANT, "Hi")
    request = ModelRequest((Message(MessageRole.SYSTEM, "Be brief."), greeting))
    assert without(request, frozenset({SYSTEM_ROLE})).messages == (Message(MessageRole.USER, "Be brief."), greeting)


def test_a_schema_moves_to_the_system_prompt() -> None:
    request = without(FULL, frozenset({JSON_SCHEMA}))
    assert request.json_schema is None
    assert request.system
    assert request.system.startswith("Be brief.")
    assert '"code"' in request.system


@pytest.mark.parametrize(
    ("model", "omitted"),
    [
        ("openai/gpt-5", {TEMPERATURE}),
        ("openai/gpt-5-mini", {TEMPERATURE}),
        ("openai/gpt-5-mini-2025-08-07", {TEMPERATURE}),
        ("openai/o3", {TEMPERATURE}),
        ("openai/o4-mini", {TEMPERATURE}),
        ("openai/o1-mini", {TEMPERATURE, SYSTEM_ROLE, JSON_SCHEMA}),
        ("google/gemma-3-27b-it", {SYSTEM_ROLE, JSON_SCHEMA}),
        ("bedrock/mistral.mistral-7b-instruct-v0:2", {SYSTEM_ROLE}),
        ("bedrock/mistral.mixtral-8x7b-instruct-v0:1", {SYSTEM_ROLE}),
        ("openai/gpt-4o", set()),
        ("openai/gpt-5-chat-latest", set()),
        ("custom/gpt-5-mini", set()),
    ],
)
def test_known_families_are_adapted_in_advance(model: str, omitted: set[RequestParameter]) -> None:
    account = Account(model.partition("/")[0], "https://models.test")
    assert Adapter().omitted(account, model, FULL) == omitted


def test_a_reasoning_model_accepts_the_default_temperature() -> None:
    account = Account("openai", "https://models.test")
    assert Adapter().omitted(account, "openai/o3", FULL.with_parameters(temperature=1.0)) == set()


def test_what_a_model_rejected_is_remembered_for_its_server_only() -> None:
    adapter, here = Adapter(), Account("custom", "http://here.test")
    learned = adapter.learn(here, "custom/m", FULL, Adaptation(), refusal(400, GPT_5_TEMPERATURE))
    assert isinstance(learned, ParameterRejected)
    assert adapter.omitted(here, "custom/m", FULL) == {TEMPERATURE}
    assert adapter.omitted(here, "custom/other", FULL) == set()
    assert adapter.omitted(Account("custom", "http://there.test"), "custom/m", FULL) == set()


BAD_SCHEMA = openai_error(
    "Invalid schema for response_format 'p': In context=('properties', 'code'), 'minLength' is not permitted.",
    "response_format",
)


def with_schema(schema: dict[str, object]) -> ModelRequest:
    return FULL.with_parameters(response_format=ResponseFormat.of_schema(schema))


def test_a_refused_schema_is_left_out_and_others_are_sent() -> None:
    adapter, account = Adapter(), Account("custom", "http://here.test")
    refused = with_schema({"type": "object", "properties": {"code": {"type": "string", "minLength": 1}}})
    assert isinstance(adapter.learn(account, "custom/m", refused, Adaptation(), refusal(400, BAD_SCHEMA)), Exception)
    assert adapter.omitted(account, "custom/m", refused) == {JSON_SCHEMA}
    assert adapter.omitted(account, "custom/m", FULL) == set()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tools": (Tool("a"),)}, "Invalid schema for function 'a': tools are not supported like this"),
        ({"stop": ("END",)}, "'stop' is not supported with this value"),
        ({"reasoning_effort": ReasoningEffort.HIGH}, "reasoning_effort 'high' is not supported"),
    ],
)
def test_what_is_refused_for_its_content_is_sent_with_another(changes: dict[str, Any], message: str) -> None:
    adapter, account = Adapter(), Account("custom", "http://here.test")
    request = ModelRequest((Message(MessageRole.USER, "Hello"),)).with_parameters(**changes)
    adapter.learn(account, "custom/m", request, Adaptation(), refusal(400, openai_error(message)))
    assert adapter.omitted(account, "custom/m", request)
    others = {"tools": (Tool("b"),), "stop": ("STOP",), "reasoning_effort": ReasoningEffort.LOW}
    other = request.with_parameters(**{name: others[name] for name in changes})
    assert adapter.omitted(account, "custom/m", other) == set()


def test_what_one_scope_learns_changes_no_other() -> None:
    adapter = Adapter()
    mine, other = (Account("openai", "https://models.test", scope=scope) for scope in ("run_1", "run_2"))
    adapter.learn(mine, "openai/gpt-4o", FULL, Adaptation(), refusal(400, GPT_5_TEMPERATURE))
    assert adapter.omitted(mine, "openai/gpt-4o", FULL) == {TEMPERATURE}
    assert adapter.omitted(other, "openai/gpt-4o", FULL) == set()


def test_a_limit_is_sent_under_its_other_name_before_it_is_left_out() -> None:
    adapter, account = Adapter(), Account("custom", "http://here.test")
    adapter.learn(account, "custom/m", FULL, Adaptation(), refusal(400, GPT_5_MAX_TOKENS))
    renamed = adapter.adaptation(account, "custom/m", FULL)
    assert renamed == Adaptation(renames_limit=True)
    body = openai.request_for(account, "m", renamed.apply(FULL)).body
    assert (body["max_completion_tokens"], "max_tokens" in body) == (100, False)
    neither = openai_error("Unsupported parameter: 'max_completion_tokens' is not supported. Use 'max_tokens'.")
    adapter.learn(account, "custom/m", FULL, renamed, refusal(400, neither))
    assert adapter.omitted(account, "custom/m", FULL) == {TOKENS}


def test_a_refusal_without_another_name_leaves_the_limit_out() -> None:
    adapter, account = Adapter(), Account("custom", "http://here.test")
    error = openai_error("Unsupported parameter: max_tokens is not supported")
    adapter.learn(account, "custom/m", FULL, Adaptation(), refusal(400, error))
    assert adapter.omitted(account, "custom/m", FULL) == {TOKENS}


def test_refusals_of_one_model_are_bounded() -> None:
    adapter, account = Adapter(), Account("custom", "http://here.test")
    first = with_schema({"type": "object", "title": "0"})
    for number in range(MAX_REMEMBERED_REFUSALS + 1):
        request = with_schema({"type": "object", "title": str(number)})
        adapter.learn(account, "custom/m", request, Adaptation(), refusal(400, BAD_SCHEMA))
    assert adapter.omitted(account, "custom/m", first) == set()
    assert adapter.omitted(account, "custom/m", request) == {JSON_SCHEMA}


def test_the_model_used_longest_ago_is_forgotten_first() -> None:
    adapter, account = Adapter(max_models=2), Account("custom", "http://here.test")
    for model in ("custom/a", "custom/b"):
        adapter.learn(account, model, FULL, Adaptation(), refusal(400, GPT_5_TEMPERATURE))
    adapter.omitted(account, "custom/a", FULL)
    adapter.learn(account, "custom/c", FULL, Adaptation(), refusal(400, GPT_5_TEMPERATURE))
    assert [bool(adapter.omitted(account, f"custom/{name}", FULL)) for name in "abc"] == [True, False, True]


def test_an_error_that_rejects_nothing_is_returned_unchanged() -> None:
    error = ProviderError(ProbeErrorCode.RATE_LIMITED, "temperature not supported")
    assert Adapter().learn(Account("custom", "http://here.test"), "custom/m", FULL, Adaptation(), error) is error


def strict_server(request: ReceivedRequest) -> web.Response:
    """Accepts nothing but a model and user messages, and refuses one parameter at a time."""
    if "max_tokens" in request.body:
        return json(GPT_5_MAX_TOKENS, 400)
    for status, body, name in (
        (400, GPT_5_TEMPERATURE, "temperature"),
        (400, openai_error("This response_format type is unavailable now"), "response_format"),
    ):
        if name in request.body:
            return json(body, status)
    if request.body["messages"][0]["role"] == "system":
        return json({"message": "System role not supported"}, 400)
    return json({"choices": [{"message": {"content": '```json\n{"code": "1"}\n```'}, "finish_reason": "stop"}]})


async def call(server: Agent, request: ModelRequest = FULL) -> Any:
    try:
        return await complete_with_retry(
            Account("custom", server.url, allow_private=True),
            "custom/strict",
            request,
            timeout_seconds=5,
            max_wait_seconds=0,
            rng=Random(1),
            on_retry=lambda error, _: pytest.fail(f"counted as a retry: {error}"),
        )
    finally:
        await http.close()
        await safe_http.close()


async def test_each_refusal_costs_one_call_and_is_neither_a_retry_nor_repeated() -> None:
    async with serving(strict_server) as server:
        first = await call(server)
        assert len(server.requests) == 5
        second = await call(server)
        assert len(server.requests) == 6
    assert first == second
    assert first.text == '{"code": "1"}'
    assert set(first.omitted_parameters) == {TEMPERATURE, JSON_SCHEMA, SYSTEM_ROLE}


async def test_a_request_that_is_accepted_leaves_nothing_out() -> None:
    async with serving(strict_server) as server:
        reply = await call(server, ModelRequest((Message(MessageRole.USER, "Hello"),)))
    assert (reply.omitted_parameters, len(server.requests)) == ((), 1)


async def test_a_server_that_refuses_for_ever_is_an_error() -> None:
    async with serving(lambda _: json(GPT_5_TEMPERATURE, 400)) as server:
        with pytest.raises(ProviderError) as caught:
            await call(server)
    assert (caught.value.code, len(server.requests)) == (ProbeErrorCode.INVALID_REQUEST, 2)
