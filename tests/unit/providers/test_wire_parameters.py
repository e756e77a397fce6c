"""Parameters, tools and tool results in each wire format, and tool calls in its replies."""

from typing import Any

import pytest

from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_parameters import ModelParameters, ReasoningEffort, ResponseFormat
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest
from cupel_core.domain.conversations.tools import Tool, ToolCall, ToolChoice, ToolMode
from cupel_core.providers import PROVIDERS, anthropic, bedrock, google, openai, openai_responses
from cupel_core.providers.account import Account
from cupel_core.providers.wire_format import HttpWireFormat

HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLOSED = {**SCHEMA, "additionalProperties": False}
WEATHER = Tool("weather", "The weather of a city", SCHEMA)
SAMPLING = ModelParameters(
    temperature=0.5,
    top_p=0.9,
    max_output_tokens=100,
    stop=("END",),
    seed=7,
    frequency_penalty=0.1,
    presence_penalty=0.2,
)
CALL = ToolCall("call_1", "weather", '{"city":"Bonn"}')
AFTER_A_CALL = ModelRequest(
    (
        Message(MessageRole.USER, "Is it raining?"),
        Message(MessageRole.ASSISTANT, "", (CALL, ToolCall("call_2", "weather", "not JSON"))),
        Message(MessageRole.TOOL, "rain", tool_call_id="call_1"),
        Message(MessageRole.TOOL, "sun", tool_call_id="call_2"),
    ),
    ModelParameters(tools=(WEATHER,)),
)


def account(provider: str) -> Account:
    return Account(provider, PROVIDERS[provider].base_url or "http://localhost:11434/v1/", "sk-test")


def sent(provider: str, request: ModelRequest, model: str = "m") -> dict[str, Any]:
    wire_format = {"openai": openai, "anthropic": anthropic, "google": google}[PROVIDERS[provider].wire_format]
    return dict(wire_format.request_for(account(provider), model, request).body)


def with_parameters(**parameters: Any) -> ModelRequest:
    return HELLO.with_parameters(**parameters)


@pytest.mark.parametrize("wire_format", [openai, openai_responses])
def test_further_fields_are_added_to_the_body(wire_format: HttpWireFormat) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "min_p": 0.05}
    plain = wire_format.request_for(account("custom"), "m", HELLO).body
    body = wire_format.request_for(account("custom"), "m", HELLO.with_parameters(extra_body=extra)).body
    assert body == {**plain, **extra}


class TestOpenAI:
    def test_sampling_parameters_have_their_names(self) -> None:
        body = sent("openai", ModelRequest(HELLO.messages, SAMPLING))
        assert {name: value for name, value in body.items() if name not in ("model", "messages")} == {
            "temperature": 0.5,
            "top_p": 0.9,
            "max_completion_tokens": 100,
            "stop": ["END"],
            "seed": 7,
            "frequency_penalty": 0.1,
            "presence_penalty": 0.2,
        }

    def test_mistral_calls_the_seed_and_a_required_tool_otherwise(self) -> None:
        request = with_parameters(seed=7, tools=(WEATHER,), tool_choice=ToolChoice(ToolMode.REQUIRED))
        body = sent("mistral", request)
        assert (body["random_seed"], body["tool_choice"]) == (7, "any")

    def test_tools_are_functions(self) -> None:
        body = sent("openai", with_parameters(tools=(WEATHER,), tool_choice=ToolChoice(ToolMode.REQUIRED, "weather")))
        function = {"name": "weather", "description": "The weather of a city", "parameters": SCHEMA}
        assert body["tools"] == [{"type": "function", "function": function}]
        assert body["tool_choice"] == {"type": "function", "function": {"name": "weather"}}

    def test_a_tool_choice_without_tools_is_left_out(self) -> None:
        assert "tool_choice" not in sent("openai", with_parameters(tool_choice=ToolChoice(ToolMode.AUTO)))

    def test_calls_and_results_are_messages(self) -> None:
        _, call, first, _ = sent("openai", AFTER_A_CALL)["messages"]
        assert call["content"] is None
        assert call["tool_calls"][0]["function"] == {"name": "weather", "arguments": '{"city":"Bonn"}'}
        assert first == {"role": "tool", "tool_call_id": "call_1", "content": "rain"}

    def test_json_mode_asks_for_json_if_nobody_has(self) -> None:
        reply_format = decode(ResponseFormat, {"type": "json"})
        body = sent("openai", with_parameters(response_format=reply_format))
        assert body["response_format"] == {"type": "json_object"}
        assert "JSON" in body["messages"][0]["content"]
        asked = ModelRequest((Message(MessageRole.USER, "As json, please"),), ModelParameters())
        assert len(sent("openai", asked.with_parameters(response_format=reply_format))["messages"]) == 1

    def test_a_reply_has_its_calls(self) -> None:
        call = {"id": "call_9", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bonn"}'}}
        nameless = {"type": "function", "function": {"name": "weather", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call, nameless]}
        reply = openai.parse({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
        assert (reply.text, reply.finish_reason) == ("", "tool_calls")
        assert reply.tool_calls == (
            ToolCall("call_9", "weather", '{"city":"Bonn"}'),
            ToolCall("call_2", "weather", "{}"),
        )


class TestResponses:
    def test_parameters_tools_and_schema_have_their_places(self) -> None:
        request = with_parameters(
            top_p=0.9,
            reasoning_effort=ReasoningEffort.LOW,
            response_format=ResponseFormat.of_schema(CLOSED),
            tools=(WEATHER,),
            tool_choice=ToolChoice(ToolMode.REQUIRED, "weather"),
        )
        body = dict(openai_responses.request_for(account("openai"), "m", request).body)
        assert (body["top_p"], body["reasoning"]) == (0.9, {"effort": "low"})
        schema_format = {"type": "json_schema", "name": "answer", "schema": CLOSED, "strict": True}
        assert body["text"] == {"format": schema_format}
        function = {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}
        assert body["tools"] == [{**function, "description": "The weather of a city"}]
        assert body["tool_choice"] == {"type": "function", "name": "weather"}

    def test_calls_and_results_are_items(self) -> None:
        body = dict(openai_responses.request_for(account("openai"), "m", AFTER_A_CALL).body)
        items: Any = body["input"]
        assert [item.get("type", "message") for item in items] == [
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
        ]
        assert items[3] == {"type": "function_call_output", "call_id": "call_1", "output": "rain"}

    def test_a_reply_has_its_calls(self) -> None:
        call = {"type": "function_call", "call_id": "call_9", "name": "weather", "arguments": "{}"}
        reply = openai_responses.parse({"status": "completed", "output": [{"type": "reasoning"}, call]})
        assert reply.tool_calls == (ToolCall("call_9", "weather", "{}"),)


class TestAnthropic:
    def test_sampling_parameters_have_their_names(self) -> None:
        body = sent("anthropic", with_parameters(top_p=0.9, top_k=40, stop=("END",)))
        assert (body["top_p"], body["top_k"], body["stop_sequences"]) == (0.9, 40, ["END"])

    def test_an_older_model_thinks_by_a_budget_beside_its_answer(self) -> None:
        request = with_parameters(reasoning_effort=ReasoningEffort.MEDIUM, max_output_tokens=500)
        body = sent("anthropic", request, "claude-sonnet-4-5")
        assert body["thinking"] == {"type": "enabled", "budget_tokens": 4_096}
        assert body["max_tokens"] == 4_596

    @pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-sonnet-4-6-20260217", "claude-opus-5"])
    def test_a_newer_model_takes_an_effort(self, model: str) -> None:
        body = sent("anthropic", with_parameters(reasoning_effort=ReasoningEffort.MINIMAL), model)
        assert (body["thinking"], body["output_config"]) == ({"type": "adaptive"}, {"effort": "low"})

    def test_no_effort_is_no_thinking(self) -> None:
        body = sent("anthropic", with_parameters(reasoning_effort=ReasoningEffort.NONE), "claude-opus-4-6")
        assert not {"thinking", "output_config"} & body.keys()

    def test_a_new_model_enforces_a_closed_schema_of_a_target(self) -> None:
        request = with_parameters(response_format=ResponseFormat.of_schema(CLOSED))
        body = sent("anthropic", request, "claude-haiku-4-5")
        assert body["output_config"] == {"format": {"type": "json_schema", "schema": CLOSED}}

    def test_with_tools_a_schema_is_an_instruction(self) -> None:
        request = with_parameters(response_format=ResponseFormat.of_schema(SCHEMA), tools=(WEATHER,))
        body = sent("anthropic", request)
        assert '"required":["city"]' in body["system"]
        assert [tool["name"] for tool in body["tools"]] == ["weather"]

    @pytest.mark.parametrize(
        ("choice", "expected"),
        [
            (ToolChoice(ToolMode.REQUIRED), {"type": "any"}),
            (ToolChoice(ToolMode.NONE), {"type": "none"}),
            (ToolChoice(ToolMode.REQUIRED, "weather"), {"type": "tool", "name": "weather"}),
        ],
    )
    def test_a_tool_choice_is_an_object(self, choice: ToolChoice, expected: dict[str, str]) -> None:
        assert sent("anthropic", with_parameters(tools=(WEATHER,), tool_choice=choice))["tool_choice"] == expected

    def test_results_of_one_turn_are_one_message(self) -> None:
        _, call, results = sent("anthropic", AFTER_A_CALL)["messages"]
        assert [block["input"] for block in call["content"]] == [{"city": "Bonn"}, {}]
        assert [block["tool_use_id"] for block in results["content"]] == ["call_1", "call_2"]

    def test_a_reply_has_its_calls_beside_its_text(self) -> None:
        blocks = [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bonn"}},
        ]
        reply = anthropic.parse({"content": blocks, "stop_reason": "tool_use"})
        assert (reply.text, reply.tool_calls) == (
            "Let me look.",
            (ToolCall("toolu_1", "weather", '{"city":"Bonn"}'),),
        )


class TestGoogle:
    def test_sampling_parameters_are_generation_config(self) -> None:
        body = sent("google", ModelRequest(HELLO.messages, SAMPLING))
        assert body["generationConfig"] == {
            "temperature": 0.5,
            "topP": 0.9,
            "maxOutputTokens": 100,
            "stopSequences": ["END"],
            "seed": 7,
            "frequencyPenalty": 0.1,
            "presencePenalty": 0.2,
        }

    @pytest.mark.parametrize(
        ("model", "expected"),
        [
            ("gemini-2.5-flash", {"thinkingBudget": 24_576}),
            ("gemini-3-pro-preview", {"thinkingLevel": "high"}),
        ],
    )
    def test_an_effort_is_a_budget_or_a_level(self, model: str, expected: dict[str, object]) -> None:
        body = sent("google", with_parameters(reasoning_effort=ReasoningEffort.XHIGH), model)
        assert body["generationConfig"] == {"thinkingConfig": expected}

    def test_tools_are_function_declarations(self) -> None:
        body = sent("google", with_parameters(tools=(WEATHER,), tool_choice=ToolChoice(ToolMode.REQUIRED, "weather")))
        declaration = {"name": "weather", "description": "The weather of a city", "parametersJsonSchema": SCHEMA}
        assert body["tools"] == [{"functionDeclarations": [declaration]}]
        calling = {"mode": "ANY", "allowedFunctionNames": ["weather"]}
        assert body["toolConfig"] == {"functionCallingConfig": calling}

    def test_a_call_is_returned_with_its_thought_signature_and_its_result_by_name(self) -> None:
        parts = [{"functionCall": {"name": "weather", "args": {"city": "Bonn"}}, "thoughtSignature": "c2ln"}]
        reply = google.parse({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})
        result = Message(MessageRole.TOOL, "rain", tool_call_id=reply.tool_calls[0].id)
        request = HELLO.with_message(reply.message).with_message(result)
        assert sent("google", request)["contents"][1:] == [
            {"role": "model", "parts": parts},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "weather", "response": {"result": "rain"}}}],
            },
        ]


class TestBedrock:
    def test_parameters_and_tools_have_their_places(self) -> None:
        parameters = ModelParameters(top_p=0.9, stop=("END",), reasoning_effort=ReasoningEffort.HIGH, tools=(WEATHER,))
        arguments = bedrock.converse_arguments("m", ModelRequest(HELLO.messages, parameters))
        assert arguments["inferenceConfig"] == {"topP": 0.9, "stopSequences": ["END"]}
        assert arguments["outputConfig"] == {"effort": "high"}
        specification = {
            "name": "weather",
            "description": "The weather of a city",
            "inputSchema": {"json": SCHEMA},
        }
        assert arguments["toolConfig"] == {"tools": [{"toolSpec": specification}]}

    def test_tools_that_must_not_be_called_are_not_sent(self) -> None:
        request = with_parameters(tools=(WEATHER,), tool_choice=ToolChoice(ToolMode.NONE))
        assert "toolConfig" not in bedrock.converse_arguments("m", request)

    def test_results_of_one_turn_are_one_message(self) -> None:
        _, call, results = bedrock.converse_arguments("m", AFTER_A_CALL)["messages"]
        assert call["content"][0] == {"toolUse": {"toolUseId": "call_1", "name": "weather", "input": {"city": "Bonn"}}}
        assert [block["toolResult"]["toolUseId"] for block in results["content"]] == ["call_1", "call_2"]

    def test_a_reply_has_its_calls(self) -> None:
        use = {"toolUse": {"toolUseId": "t1", "name": "weather", "input": {"city": "Bonn"}}}
        body = {"output": {"message": {"content": [use]}}, "stopReason": "tool_use"}
        assert bedrock.parse(body).tool_calls == (ToolCall("t1", "weather", '{"city":"Bonn"}'),)


FAILED_CALL = ModelRequest(
    (
        Message(MessageRole.USER, "Is it raining?"),
        Message(MessageRole.ASSISTANT, "", (ToolCall("call_1", "functions.wea\x00ther\n", "{}"),)),
        Message(MessageRole.TOOL, "no such city", tool_call_id="call_1", is_error=True),
    ),
    ModelParameters(tools=(WEATHER,)),
)


class TestFailedCalls:
    """Wire formats say that a call failed where they can, and a name that the model invented is made sendable."""

    def test_openai(self) -> None:
        called, result = sent("openai", FAILED_CALL)["messages"][1:]
        assert called["tool_calls"][0]["function"]["name"] == "functions_wea_ther_"
        assert result == {"role": "tool", "tool_call_id": "call_1", "content": "no such city"}

    def test_anthropic(self) -> None:
        called, result = sent("anthropic", FAILED_CALL)["messages"][1:]
        assert called["content"][0]["name"] == "functions_wea_ther_"
        assert result["content"][0]["is_error"] is True

    def test_google(self) -> None:
        called, result = sent("google", FAILED_CALL)["contents"][1:]
        response = {"name": "functions_wea_ther_", "response": {"error": "no such city"}}
        assert called["parts"][0]["functionCall"]["name"] == "functions_wea_ther_"
        assert result["parts"] == [{"functionResponse": response}]

    def test_bedrock(self) -> None:
        arguments = bedrock.converse_arguments("m", FAILED_CALL)
        called, result = arguments["messages"][1:]
        assert called["content"][0]["toolUse"]["name"] == "functions_wea_ther_"
        assert result["content"][0]["toolResult"]["status"] == "error"
