"""Every provider of promptfoo becomes a model or is refused with a reason; docs/interop.md names the models."""

import re

from cupel_core.interop.imports.promptfoo import provider_services
from cupel_core.interop.imports.promptfoo.provider_services import REFUSED, SERVICES, convert
from tests.conftest import ROOT
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
SECTION = (ROOT / "docs/interop.md").read_text().split("#### promptfoo's providers")[1].split("\n#### ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in SECTION.splitlines() if line[:3] == "| `"]
(OWN_SERVERS,) = re.findall(r"with\s+the\s+address: (.*?)\.\n", SECTION, re.DOTALL)


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def own_servers() -> dict[str, str]:
    """Return the name of the server for each service with OpenAI's API that the page names."""
    return {identifier: convert(f"{identifier}x").model or "" for identifier in quoted(OWN_SERVERS)}


def test_every_service_becomes_a_model_or_is_refused() -> None:
    ids = [
        *(each for ids, _ in ROWS for each in quoted(ids)),
        *own_servers(),
        *(each for ids in REASONS.values() for each in ids),
    ]
    services = {identifier.partition(":")[0] for identifier in ids} - {"<service>", "provider.mjs"}
    assert services == {*SERVICES, *REFUSED, *provider_services.SYNONYMS, "echo", "file"}


def test_models_are_as_documented() -> None:
    wrong = {id_: convert(id_) for ids, model in ROWS for id_ in quoted(ids) if convert(id_).model != quoted(model)[0]}
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
