import pytest

from cupel_core.interop.imports.promptfoo.provider_services import convert
from tests.in_one_test import in_one_test
from tests.unit.interop.imports.reading import read_suite


@in_one_test(
    ("identifier", "model"),
    [
        ("echo", "sim/echo"),
        ("openai:gpt-5-mini", "openai/gpt-5-mini"),
        ("openai:chat:gpt-5-mini", "openai/gpt-5-mini"),
        ("openai:responses:gpt-5", "openai/gpt-5"),
        ("openai:chat:ft:gpt-4o:org", "openai/ft:gpt-4o:org"),
        ("anthropic:messages:claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("anthropic:claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
        ("google:gemini-2.5-flash", "google/gemini-2.5-flash"),
        ("vertex:gemini-2.5-pro", "vertex/gemini-2.5-pro"),
        ("vertex:chat:claude-sonnet-4-5@20250929", "vertex/claude-sonnet-4-5@20250929"),
        ("bedrock:amazon.nova-lite-v1:0", "bedrock/amazon.nova-lite-v1:0"),
        ("bedrock:converse:amazon.nova-lite-v1:0", "bedrock/amazon.nova-lite-v1:0"),
        ("mistral:mistral-large-latest", "mistral/mistral-large-latest"),
        ("deepseek:deepseek-chat", "deepseek/deepseek-chat"),
        ("xai:grok-4", "xai/grok-4"),
        ("xai:responses:grok-4", "xai/grok-4"),
        ("azure:chat:my-gpt", "azure/my-gpt"),
        ("azure:responses:my-gpt", "azure/responses:my-gpt"),
        ("azureopenai:my-gpt", "azure/my-gpt"),
        ("openrouter:openai/gpt-5", "openrouter/openai/gpt-5"),
        ("groq:llama-3.3-70b-versatile", "groq/llama-3.3-70b-versatile"),
        ("groq:responses:openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
        ("togetherai:chat:meta-llama/Llama-3.3-70B", "together/meta-llama/Llama-3.3-70B"),
        ("fireworks:accounts/fireworks/models/x", "fireworks/accounts/fireworks/models/x"),
        ("cohere:command-a-03-2025", "cohere/command-a-03-2025"),
        ("perplexity:sonar-pro", "perplexity/sonar-pro"),
        ("ollama:chat:llama3.2", "custom/llama3.2"),
        ("ollama:llama3.2:1b", "custom/llama3.2:1b"),
        ("docker:ai/llama3.2:3B", "custom/ai/llama3.2:3B"),
        ("cerebras:llama-4-scout", "custom-cerebras/llama-4-scout"),
        ("dashscope:qwen-max", "custom-alibaba/qwen-max"),
        ("huggingface:chat:meta-llama/Llama-3.3", "custom-huggingface/meta-llama/Llama-3.3"),
        ("sim/steady", "sim/steady"),
        ("custom-gpu/llama", "custom-gpu/llama"),
    ],
)
def test_a_provider_is_a_model(identifier: str, model: str) -> None:
    assert convert(identifier).model == model


@in_one_test(
    ("identifier", "reason"),
    [
        ("anthropic:claude-agent-sdk", "coding agent"),
        ("anthropic:claude-code", "coding agent"),
        ("openai:codex-sdk", "coding agent"),
        ("openai:codex-sdk:gpt-5-codex", "coding agent"),
        ("openai:codex-security:x", "coding agent"),
        ("openai:transcription:gpt-4o-transcribe", "speech"),
        ("openai:gpt-4o-mini-tts", "speech"),
        ("openai:speech:tts-1", "speech"),
        ("openai:video:sora-2", "videos"),
        ("openai:chatkit:wf_1", "workflow"),
        ("openai:image:dall-e-3", "images"),
        ("openai:embedding:text-embedding-3-small", "embedding"),
        ("openai:text-embedding-3-small", "embedding"),
        ("openai:moderation:omni-moderation-latest", "classifies"),
        ("openai:realtime:gpt-realtime", "WebSocket"),
        ("openai:gpt-4o-realtime-preview", "WebSocket"),
        ("openai:assistant:asst_1", "agent"),
        ("openai:agents:main", "agent"),
        ("openai:completion:davinci-002", "completes texts"),
        ("openai:gpt-3.5-turbo-instruct", "completes texts"),
        ("openai:chat", "names no model"),
        ("google:live:gemini-2.0-flash-live-001", "WebSocket"),
        ("google:video:veo-3", "videos"),
        ("google:image:imagen-4", "images"),
        ("google:gemini-2.5-flash-image", "images"),
        ("vertex:video:veo-3", "videos"),
        ("vertex:text-bison", "Gemini and Claude only"),
        ("bedrock:kb:claude", "knowledge base"),
        ("bedrock:video:amazon.nova-reel-v1:1", "videos"),
        ("bedrock:amazon.nova-sonic-v1:0", "speech"),
        ("bedrock:embeddings:amazon.titan-embed-text-v2:0", "embedding"),
        ("bedrock-agent:A1", "agent"),
        ("xai:video:grok-imagine-video", "videos"),
        ("xai:image:grok-imagine-image", "images"),
        ("xai:voice:grok-voice", "speech"),
        ("azure:assistant:a", "agent"),
        ("cohere:embedding:embed-english-v3.0", "embedding"),
        ("huggingface:text-classification:x", "classifies"),
        ("replicate:meta/llama", "its API"),
        ("elevenlabs:tts:x", "speech"),
        ("file://provider.js", "code is not executed"),
        ("provider.mjs", "code is not executed"),
        ("file://provider.yaml", "can be a target, but not a judge"),
        ("exec:python provider.py", "code is not executed"),
        ("promptfoo://provider/1", "promptfoo itself"),
        ("newservice:x", "no Cupel model"),
    ],
)
def test_what_is_no_chat_model_is_refused_with_the_reason(identifier: str, reason: str) -> None:
    model, why = convert(identifier)
    assert model is None
    assert reason in why


@pytest.mark.parametrize(
    ("identifier", "config", "model", "note"),
    [
        (
            "openai:chat:llama",
            {"apiBaseUrl": "http://gpu.lan:8000/v1"},
            "custom-gpu-lan-8000/llama",
            "cupel providers set custom-gpu-lan-8000 --base-url http://gpu.lan:8000/v1",
        ),
        ("openai:gpt-5", {"apiHost": "llm.acme.test"}, "custom-llm-acme-test/gpt-5", "https://llm.acme.test/v1"),
        ("openai:llama", {"apiBaseUrl": "{{ env.URL }}"}, "custom/llama", "providers set custom --base-url <address>"),
        (
            "azure:chat:my-gpt",
            {"apiHost": "acme.openai.azure.com"},
            "azure/my-gpt",
            "providers set azure --base-url https://acme.openai.azure.com`",
        ),
        ("cerebras:llama", {}, "custom-cerebras/llama", "--base-url https://api.cerebras.ai/v1"),
        ("litellm:gpt-5", {}, "custom-litellm/gpt-5", "--base-url <address>"),
    ],
)
def test_a_server_of_ones_own_is_named_with_its_address(
    identifier: str, config: dict[str, str], model: str, note: str
) -> None:
    found = convert(identifier, config)
    assert found.model == model
    assert note in found.note


@pytest.mark.parametrize(
    "address", ["http://[", "http://user:secret@gpu.lan/v1", "http://a/$(reboot)", "http://a/`b`", "gpu.lan"]
)
def test_an_address_that_is_no_plain_one_is_not_repeated(address: str) -> None:
    model, note = convert("openai:llama", {"apiBaseUrl": address})
    assert model == "custom/llama"
    assert "providers set custom --base-url <address>" in note


def test_openais_own_address_is_no_other_server() -> None:
    assert convert("openai:gpt-5", {"apiBaseUrl": "https://api.openai.com/v1"}).model == "openai/gpt-5"


@pytest.mark.parametrize("kind", ["embedding", "embeddings"])
def test_an_embedding_model_is_one_where_it_is_asked_for(kind: str) -> None:
    model = "text-embedding-3-small"
    assert convert(f"openai:{kind}:{model}", embeds=True).model == f"openai/{model}"
    assert convert(f"openai:{model}", embeds=True).model == f"openai/{model}"


def config(*providers: object) -> dict[str, object]:
    return {"prompts": ["A", {"raw": "B", "label": "b"}], "providers": list(providers)}


def test_models_are_suggested_for_their_prompts() -> None:
    found = read_suite(config("echo", {"id": "openai:gpt-5-mini", "label": "mini", "prompts": ["b"]}))
    assert [draft.models for draft in found.drafts] == [("sim/echo",), ("sim/echo", "openai/gpt-5-mini")]


TOOL = {"name": "weather", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    ("options", "params"),
    [
        ({"max_tokens": 5}, {"maxOutputTokens": 5}),
        ({"generationConfig": {"maxOutputTokens": 5, "topK": 3}}, {"maxOutputTokens": 5, "topK": 3}),
        ({"inferenceConfig": {"stopSequences": ["X"]}}, {"stop": ["X"]}),
        ({"stop": "X"}, {"stop": ["X"]}),
        ({"reasoning": {"effort": "low"}}, {"reasoningEffort": "low"}),
        ({"response_format": {"type": "json_object"}}, {"responseFormat": {"type": "json"}}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}},
            {"responseFormat": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}},
        ),
        ({"tools": [{"type": "function", "function": TOOL}]}, {"tools": [TOOL]}),
        ({"tools": [{"name": "weather", "input_schema": {"type": "object"}}]}, {"tools": [TOOL]}),
        ({"tools": [{"functionDeclarations": [TOOL]}]}, {"tools": [TOOL]}),
        (
            {"tools": [{"toolSpec": {"name": "weather", "inputSchema": {"json": {"type": "object"}}}}]},
            {"tools": [TOOL]},
        ),
        ({"tools": {"function_declarations": [TOOL]}}, {"tools": [TOOL]}),
        ({"tools": [{"type": "custom", "name": "weather", "input_schema": {"type": "object"}}]}, {"tools": [TOOL]}),
        ({"generationConfig": {"response_mime_type": "application/json"}}, {"responseFormat": {"type": "json"}}),
        (
            {"generationConfig": {"responseSchema": {"type": "OBJECT"}, "responseMimeType": "application/json"}},
            {"responseFormat": {"type": "json_schema", "schema": {"type": "object"}}},
        ),
        ({"tool_choice": {"type": "function", "function": {"name": "weather"}}}, {"toolChoice": {"name": "weather"}}),
        ({"tool_choice": {"type": "any"}}, {"toolChoice": "required"}),
    ],
)
def test_options_are_parameters_of_the_target(options: dict[str, object], params: dict[str, object]) -> None:
    found = read_suite(config({"id": "openai:gpt-5-mini", "config": options}))
    assert found.drafts[0].targets == ({"model": "openai/gpt-5-mini", "params": params},)
    assert not found.report.skipped


@pytest.mark.parametrize("options", [{"temperature": 9}, {"tools": [{"type": "web_search"}]}, {"tools": "file://x.js"}])
def test_an_option_that_is_no_valid_parameter_is_reported(options: dict[str, object]) -> None:
    found = read_suite(config({"id": "openai:gpt-5-mini", "config": options}))
    assert found.drafts[0].targets == ({"model": "openai/gpt-5-mini"},)
    assert [note.what for note in found.report.skipped] == list(options)


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
        {"type": "file_search"},
        {"googleSearch": {}},
    ],
)
def test_a_tool_that_the_provider_executes_is_no_function(tool: dict[str, object]) -> None:
    options = {"tools": [{"type": "function", "function": TOOL}, tool], "tool_choice": {"type": "auto"}}
    found = read_suite(config({"id": "anthropic:messages:claude-haiku-4-5", "config": options}))
    assert found.drafts[0].targets == ({"model": "anthropic/claude-haiku-4-5"},)
    reasons = {note.what: note.why for note in found.report.skipped}
    assert reasons["tools"].endswith("is a tool of the provider's own, and a target has functions only")
    assert reasons["tool_choice"] == "there is nothing to choose from without the tools"


def test_a_file_of_options_may_name_further_files() -> None:
    options = {"output_format": "file://format.json"}
    files = {
        "format__json": '{"type": "json_schema", "schema": "file://schema.json"}',
        "schema__json": '{"type": "object"}',
    }
    found = read_suite(config({"id": "anthropic:messages:claude-haiku-4-5", "config": options}), **files)
    assert found.drafts[0].targets[0]["params"] == {
        "responseFormat": {"type": "json_schema", "schema": {"type": "object"}}
    }


def test_files_of_options_that_name_each_other_are_reported() -> None:
    found = read_suite(
        config({"id": "openai:gpt-5-mini", "config": {"tools": "file://a.json"}}), a__json='["file://a.json"]'
    )
    assert [note.why for note in found.report.skipped] == ["file://a.json is in more than 4 files"]


def test_a_budget_for_thinking_is_reported() -> None:
    options = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 2048}}}
    found = read_suite(config({"id": "google:gemini-2.5-pro", "config": options}))
    assert [note.what for note in found.report.skipped] == ["thinkingConfig"]
    assert "write it as `reasoning_effort`" in next(iter(found.report.skipped)).why


def test_providers_of_one_model_have_labels() -> None:
    hot = {"id": "openai:gpt-5-mini", "config": {"temperature": 1}}
    cold = {"id": "openai:gpt-5-mini", "config": {"temperature": 0}}
    targets = read_suite(config(hot, cold, cold, {**hot, "label": "mine"})).drafts[0].targets
    assert [target.get("label") for target in targets] == [None, "openai/gpt-5-mini (2)", "mine"]


def azure(deployment: str, host: str) -> dict[str, object]:
    return {"id": f"azure:chat:{deployment}", "config": {"apiHost": host}}


def test_models_of_a_second_azure_resource_are_called_there() -> None:
    east, west = azure("gpt", "East.openai.azure.com"), azure("gpt", "west.openai.azure.com")
    judged = {"assert": [{"type": "llm-rubric", "value": "polite", "provider": west}]}
    found = read_suite(
        {**config("azure:gpt-old", east, west, azure("gpt-2", "east.openai.azure.com")), "tests": [judged]}
    )
    assert found.drafts[0].models == (
        "azure/gpt-old",
        "azure/gpt",
        "custom-west-openai-azure-com/gpt",
        "azure/gpt-2",
    )
    (assertion,) = found.drafts[0].scenarios[0].assertions
    assert assertion.to_json()["provider"] == "custom-west-openai-azure-com/gpt"
    set_up = "`cupel providers set custom-west-openai-azure-com --base-url https://west.openai.azure.com/openai/v1`"
    assert [note.where for note in found.report.changed if set_up in note.why] == [
        "providers.2",
        "tests.0.assert.0.provider",
    ]


def test_a_common_temperature_is_suggested_for_the_run() -> None:
    one = {"id": "openai:gpt-5-mini", "config": {"temperature": 0}}
    assert read_suite(config(one)).temperature == 0
    assert read_suite(config(one, "echo")).temperature is None


def test_providers_and_options_without_equivalent_are_skipped() -> None:
    found = read_suite(
        config("file://x.py", {"id": "openai:gpt-5-mini", "config": {"logit_bias": {}, "top_p": 1}, "delay": 5})
    )
    assert [note.where for note in found.report.skipped] == [
        "providers.0",
        "providers.1.config.logit_bias",
        "providers.1.delay",
    ]


@pytest.mark.parametrize("option", ["passthrough", "extra_body"])
def test_further_fields_of_a_body_are_for_servers_of_ones_own(option: str) -> None:
    fields = {"min_p": 0.05, "max_tokens": 300, "chat_template_kwargs": {"enable_thinking": False}}
    own = {"id": "openai:chat:qwen3", "config": {"apiBaseUrl": "http://127.0.0.1:8000/v1", option: fields}}
    known = {"id": "openai:chat:gpt-6.1-terra", "config": {option: fields}}
    suite = read_suite({"prompts": ["a"], "providers": [own, known], "tests": [{}]})
    params = [target["params"] for target in suite.drafts[0].targets]
    body = {"min_p": 0.05, "chat_template_kwargs": {"enable_thinking": False}}
    assert params == [{"extraBody": body, "maxOutputTokens": 300}, {"maxOutputTokens": 300}]
    assert sorted(note.what for note in suite.report.skipped) == ["chat_template_kwargs", "min_p"]


def test_further_fields_that_cupel_sets_itself_are_reported() -> None:
    config = {"apiBaseUrl": "http://127.0.0.1:8000/v1", "passthrough": {"stream": True}}
    suite = read_suite({"prompts": ["a"], "providers": [{"id": "openai:chat:q", "config": config}], "tests": [{}]})
    assert [note.why for note in suite.report.skipped] == ["must not have stream, which Cupel sets itself"]
