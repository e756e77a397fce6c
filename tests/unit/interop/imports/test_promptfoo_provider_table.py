"""Every provider of promptfoo becomes a model or is refused with a reason."""

from cupel_core.interop.imports.promptfoo import provider_services
from cupel_core.interop.imports.promptfoo.provider_services import REFUSED, SERVICES, convert
from tests.in_one_test import in_one_test

REASONS = {
    "it is an embedding model, not a chat model": [
        "<service>:embedding:",
        "<service>:embeddings:",
        "<service>:feature-extraction:",
        "huggingface:sentence-similarity:",
        "voyage:",
    ],
    "it completes texts and is no chat model": ["<service>:completion:", "huggingface:text-generation:"],
    "it makes images and is no chat model": ["<service>:image:", "fal:", "modelslab:", "quiverai:"],
    "it makes videos and is no chat model": ["<service>:video:"],
    "it is for speech, not a chat model": [
        "<service>:audio:",
        "<service>:speech:",
        "<service>:tts:",
        "<service>:transcription:",
        "<service>:voice:",
        "bedrock:nova-sonic:",
        "elevenlabs:",
    ],
    "it is a session over a WebSocket, not a chat model": [
        "<service>:live:",
        "<service>:realtime:",
        "websocket:",
        "ws:",
        "wss:",
    ],
    "it classifies texts and is no chat model": [
        "<service>:moderation:",
        "huggingface:text-classification:",
        "huggingface:token-classification:",
    ],
    "it is an agent, not a chat model; a connector may be able to call it": [
        "<service>:assistant:",
        "<service>:agents:",
        "openai:agents-api:",
        "azure:foundry-agent:",
        "anthropic:claude-managed-agents:",
        "a2a:",
        "acp:",
        "bedrock-agent:",
        "n8n:",
        "openclaw:",
    ],
    "it is a workflow, not a chat model; a connector may be able to call it": ["openai:chatkit:"],
    "it is a coding agent, not a chat model": [
        "openai:codex:",
        "openai:codex-app-server:",
        "openai:codex-desktop:",
        "openai:codex-sdk:",
        "openai:codex-security:",
        "anthropic:claude-agent-sdk:",
        "anthropic:claude-code:",
        "opencode:",
        "openinterpreter:",
    ],
    "it is no model of Anthropic's Messages API": ["anthropic:asst:"],
    "of Vertex AI, Cupel calls models of Gemini and Claude only": ["vertex:text-bison:"],
    "it is a knowledge base, not a chat model": ["bedrock:kb:", "bedrock:knowledge-base:"],
    "Cupel calls models of Bedrock by Converse only": ["bedrock:mantle:", "bedrock:responses:"],
    "code is not executed": [
        "exec:",
        "golang:",
        "package:",
        "python:",
        "ruby:",
        "javascript:",
        "file://provider.js",
        "provider.mjs",
    ],
    "it belongs to promptfoo itself": ["agentic:", "promptfoo:", "sequence:"],
    "it is an agent, which becomes a connector": ["http:", "https:"],
    "it is no model; a connector may be able to call it": ["browser:", "mcp:", "slack:", "webhook:"],
    "its API is neither OpenAI's nor another that Cupel knows; a connector may be able to call it": [
        "cloudflare-gateway:",
        "f5:",
        "jfrog:",
        "portkey:",
        "qwak:",
        "replicate:",
        "sagemaker:",
        "snowflake:",
        "watsonx:",
    ],
    "the service was shut down": ["bam:"],
    "it runs in promptfoo's own process": ["transformers:", "transformers.js:"],
    "a provider in a file can be a target, but not a judge: write it into the assertion": ["file://provider.yaml"],
}
"""The reason for which each id is refused; `<service>` stands for any."""
MODELS = {
    "sim/echo": ["echo"],
    "openai/gpt-6.1-terra": ["openai:gpt-6.1-terra", "openai:chat:gpt-6.1-terra", "openai:responses:gpt-6.1-terra"],
    "anthropic/claude-haiku-4-5": [
        "anthropic:claude-haiku-4-5",
        "anthropic:messages:claude-haiku-4-5",
        "anthropic:completion:claude-haiku-4-5",
    ],
    "google/gemini-3.8-flash": ["google:gemini-3.8-flash", "palm:gemini-3.8-flash"],
    "vertex/gemini-3.8-flash": ["vertex:gemini-3.8-flash", "vertex:chat:gemini-3.8-flash"],
    "vertex/claude-sonnet-5-5": ["vertex:claude-sonnet-5-5"],
    "bedrock/amazon.nova-lite-v1:0": [
        "bedrock:amazon.nova-lite-v1:0",
        "bedrock:converse:amazon.nova-lite-v1:0",
        "bedrock:completion:amazon.nova-lite-v1:0",
        "bedrock:messages:amazon.nova-lite-v1:0",
    ],
    "azure/gpt": ["azure:chat:gpt", "azure:gpt", "azureopenai:chat:gpt", "azureopenai:gpt"],
    "azure/responses:gpt": ["azure:responses:gpt"],
    "mistral/x": ["mistral:x", "mistral:chat:x"],
    "deepseek/x": ["deepseek:x", "deepseek:chat:x"],
    "xai/grok-4.7": ["xai:grok-4.7", "xai:responses:grok-4.7"],
    "cohere/x": ["cohere:x", "cohere:chat:x"],
    "fireworks/x": ["fireworks:x", "fireworks:chat:x"],
    "groq/x": ["groq:x", "groq:responses:x"],
    "openrouter/openai/gpt-6.1-sol": ["openrouter:openai/gpt-6.1-sol"],
    "perplexity/sonar": ["perplexity:sonar"],
    "together/x": ["togetherai:x", "togetherai:chat:x"],
    "custom/x": [
        "docker:x",
        "llama:x",
        "llamafile:x",
        "localai:chat:x",
        "localai:completion:x",
        "ollama:x",
        "ollama:chat:x",
        "ollama:completion:x",
        "vllm:x",
    ],
}
"""The ids of promptfoo for each model of Cupel."""
OWN_SERVERS = [
    "abliteration:",
    "ai21:",
    "aimlapi:",
    "alibaba:",
    "alicloud:",
    "aliyun:",
    "dashscope:",
    "atlascloud:",
    "cerebras:",
    "cloudera:",
    "cloudflare-ai:",
    "cometapi:",
    "databricks:",
    "envoy:",
    "github:",
    "helicone:",
    "huggingface:",
    "hf:",
    "hyperbolic:",
    "litellm:",
    "llamaapi:",
    "meta:",
    "minimax:",
    "mlflow-gateway:",
    "moonshot:",
    "novita:",
    "nscale:",
    "nvidia:",
    "orcarouter:",
    "truefoundry:",
    "vercel:",
]
"""Services with OpenAI's API that become servers of one's own."""


def own_servers() -> dict[str, str]:
    return {identifier: convert(f"{identifier}x").model or "" for identifier in OWN_SERVERS}


def test_every_service_becomes_a_model_or_is_refused() -> None:
    ids = [
        *(each for ids in MODELS.values() for each in ids),
        *own_servers(),
        *(each for ids in REASONS.values() for each in ids),
    ]
    services = {identifier.partition(":")[0] for identifier in ids} - {"<service>", "provider.mjs"}
    assert services == {*SERVICES, *REFUSED, *provider_services.SYNONYMS, "echo", "file"}


def test_an_id_becomes_the_model_of_its_service() -> None:
    wrong = {id_: convert(id_) for model, ids in MODELS.items() for id_ in ids if convert(id_).model != model}
    assert wrong == {}


def test_other_services_become_servers_of_ones_own() -> None:
    expected = {f"custom-{name}/x" for name, service in SERVICES.items() if not service.provider}
    assert set(own_servers().values()) == expected


@in_one_test("reason", REASONS)
def test_an_id_is_refused_with_its_reason(reason: str) -> None:
    for written in REASONS[reason]:
        for service in ("openai", "google", "xai", "azure", "mistral"):
            identifier = written.replace("<service>", service)
            assert convert(identifier + "x" if identifier.endswith(":") else identifier) == (None, reason)


def test_every_kind_that_is_refused_has_a_reason() -> None:
    kinds = {f"<service>:{kind}:" for kind in provider_services._OTHER_KINDS}
    kinds |= {f"{name}:{kind}:" for name, service in SERVICES.items() for kind in service.refused}
    assert kinds <= {identifier for ids in REASONS.values() for identifier in ids}
